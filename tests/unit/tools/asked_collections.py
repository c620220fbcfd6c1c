"""Small collections of files that questions in words are put to: tables, and documents with header fields."""

import json

TABLES = {
    "corals.csv": """study,species,growth,sample_size
S1,Porites,0.91,12
S1,Acropora,1.72,12
S2,Porites,0.85,30
S2,Acropora,1.95,21
S3,Porites,0.83,18
""",
    "staff.csv": """Name,Department,City,Salary,Start date,Full time
Ada Blum,Research,Oslo,52000,2015-03-01,yes
Ben Cole,Sales,Oslo,41000,2018-07-15,no
Cleo Dietz,Research,Bergen,61000,2011-01-10,yes
Dan Egge,Sales,Bergen,39000,2020-09-01,yes
Eva Frey,Research,Oslo,58000,2019-05-20,no
Finn Gad,Support,Tromsø,36000,2021-02-01,yes
""",
    "lakes.csv": """Lake,Country,Area_km2,Max depth (m),Elevation (m)
Vänern,Sweden,5655,106,44
Vättern,Sweden,1912,128,88
Mjøsa,Norway,365,453,123
Saimaa,Finland,4377,82,76
Inari,Finland,1040,92,118
""",
    "orders.csv": """order,customer,product,quantity,unit price,shipped
1001,Alder Ltd,bolt,200,0.15,2024-01-05
1002,Birch & Co,nut,500,0.05,2024-01-09
1003,Alder Ltd,washer,1000,0.02,
1004,Cedar GmbH,bolt,150,0.16,2024-02-11
1005,Birch & Co,bolt,300,0.15,2024-03-02
1006,Alder Ltd,nut,250,0.06,
""",
    "sales.csv": """region,quarter,product,revenue,units
North,2023-Q1,kettle,12000,300
South,2023-Q1,kettle,9000,220
South,2023-Q2,toaster,7000,280
North,2023-Q2,toaster,8000,310
""",
    "patients.csv": """patient,sex,age,ward,diagnosis,days
P1,F,34,A,asthma,3
P2,M,61,B,pneumonia,9
P3,F,47,A,fracture,5
P4,M,29,B,asthma,2
P5,F,72,B,pneumonia,11
P6,,55,A,fracture,6
""",
    "boats.csv": """boat,harbour,cabin,insured
Heron,Thun,yes,no
Merlin,Thun,no,yes
Otter,Spiez,yes,yes
Plover,Spiez,,yes
Robin,Spiez,no,yes
Tern,Thun,no,no
""",
    "films.csv": """Title,Studio,Director,Genre,Released,Running Time min,Budget,Rating,Distance_km
Reef,Alba,Ann Bell,Drama,2019-02-03,95,1000000,6.1,12
Salt,Alba,Ann Bell,Comedy,2019-05-10,130,3000000,7.4,
Tide,Bora,Cy Fox,Drama,2019-08-21,150,2000000,,30
Urn,Alba,Ann Bell,Drama,2020-01-15,121,9000000,8.2,41
Vale,Bora,Dee Goa,Comedy,2020-07-30,88,4000000,5.0,
Wren,Cala,Dee Goa,Horror,2021-11-11,105,500000,,7
""",
    "cities.csv": """城市,省份,人口,面积
杭州,浙江,12204000,16850
宁波,浙江,9404283,9816
南京,江苏,9314685,6587
苏州,江苏,12748262,8657
温州,浙江,9572903,12103
""",
}


def with_fields(names, rows, text="It helps."):
    """Return files with front matter, by name: each row has a file's name and the values of the fields."""
    return {f"{name}.md": "\n".join(["---", *(_field(field, value) for field, value in zip(names, row, strict=True)
                                              if value), "---", "", text, ""]) for name, *row in rows}


def _field(name, value):
    """Return a field; a value that begins with a line break is a list of a member in each line."""
    return f"{name}:" + "".join(f'\n  - "{one}"' for one in value.split()) if value[0] == "\n" else f"{name}: {value}"


DECISIONS = with_fields(
    ("title", "authors", "owning-team", "participating-teams", "reviewers", "creation-date", "last-updated", "status",
     "topics"), [
        ("cache", "Shared cache", "\n@ann @bob", "team-store", "\nteam-web team-ops", "\n@cyd", "2018-11-05",
         "2019-02-01", "accepted", "\nTyping"),
        ("queue", "One queue", "\n@bob", "team-store", "", "\n@cyd @dee", "2019-01-10", "2020-03-04", "proposed",
         "\nTyping Speed"),
        ("login", "Single login", "\n@ann", "team-web", "\nteam-store", "\n@ann @bob", "2019-03-20", "2019-03-20",
         "accepted", "\nAccess"),
        ("lease", "Lock leases", "\n@dee @ann @bob", "team-ops", "\nteam-store", "\n@cyd", "2019-11-02", "2020-01-01",
         "rejected", "\nSpeed"),
        ("trace", "Traces", "\n@cyd", "team-web", "", "\n@dee", "2020-06-30", "2020-07-01", "accepted", "")],
    "# Context\n\nThis ADR is about how we work.")
BOOKS = with_fields(
    ("layout", "title", "author", "type", "rating", "pages", "publish_year", "format", "date_completed", "genres"), [
        ("tides", "book", "Tides", "Mia Holt", "fiction", "5", "320", "1998", "kindle", "2018-03-04", "sea; ships"),
        ("salt", "book", '"Salt: A History of Trade"', "Ivo Brandt", "nonfiction", "2", "88", "2004", "audiobook",
         "2018-11-30", "sea"),
        ("birds", "book", "Northern Birds", "Mia Holt", "nonfiction", "", "260", "2011", "hardcover", "", "birds"),
        ("harbour", "book", "Cold Harbour", "Ada Lind", "fiction", "3", "410", "2004", "hardcover", "2019-02-11",
         "crime; sea"),
        ("rivers", "book", "Small Rivers", "Ada Lind", "nonfiction", "5", "198", "2019", "audiobook", "2019-10-05",
         "rivers"),
        ("ash", "book", "Ash", "Eva Frey", "nonfiction", "2", "500", "2015", "kindle", "2020-01-01", "trees")])
RFCS = with_fields(("title", "Date", "Author", "Status", "Version"), [
    ("rfc-1", '"MS RFC 1: Label order"', "2013/07/02", "Ada Blum", "Draft", "Maps 1.0"),
    ("rfc-2", '"MS RFC 2: Fast tiles"', "2013/07", "Ada Blum (ada at maps.org), Bo Dietz", "Adopted", "Maps 2.0"),
    ("rfc-3", '"MS RFC 3: Cache on disk"', "2013-09-30", "Cy Egge", "Adopted", "Maps 2.0"),
    ("rfc-4", '"MS RFC 4: New parser"', "2012", "Ada Blum; Cy Egge", "Adopted", "Tiles 1.0"),
    ("rfc-5", '"MS RFC 5: Old symbols"', "2014-01-15", "Bo Dietz", "", "Maps 1.0"),
    ("rfc-6", '"MS RFC 6: Symbols of roads"', "", "Bo Dietz and Cy Egge", "Withdrawn", "")])
MEPS = with_fields(("mep", "title", "author", "status", "created", "requires"), [
    ("mep-1", "1", "Fees", "Ann Bell, Bo Ek", "Final", "2018-05-01", ""),
    ("mep-2", "2", "Names", "Bo Ek", "Draft", "2019-02-01", "1"),
    ("mep-3", "3", "Rent", "Ann Bell", "Draft", "2019-03-01", "1, 2"),
    ("mep-2019", "2019", "Gas", "Cy Fox, Bo Ek, Ann Bell", "Final", "2020-09-01", "")])
NOTES = with_fields(("title", "number", "author", "category", "status"), [
    ("tides", "On tides", "31", "Lea", "sea", "shipped"), ("sand", "On sand", "7", "lea", "sea", "open"),
    ("wind", "On wind", "12", "LEA", "air", "shipped"), ("salt", "On salt", "3", "Kim", "sea", "open"),
    *((f"n{number}", f"Part {number}", str(number), "Max" if number % 2 else "Eve", "land", "open")
      for number in range(100, 104))])
TOURS = with_fields(("layout", "title", "organizer", "price", "status", "date_posted", "date"), [
    (f"tours/n{number}", "page" if number == 11 else "tours", *row) for number, row in enumerate([
        ("Harbour walk", "Port Club", "free", "open", "2019-03-02", "2019-03-02T09:00:00.000Z"),
        ("Tower climb", "Port Club", "charged", "full", "2019-05-01", "2019-05-01T10:30:00.000Z"),
        ("Night sky", "Star Circle", "free", "open", "2020-01-15", "2020-01-15T21:00:00.000Z"),
        ("Old town", "Port Club", "unknown", "full", "2020-02-20", "2020-02-20T08:00:00.000Z"),
        ("River bank", "Star Circle", "charged", "open", "2020-02-25", ""),
        ("Salt mine", "Mine Guild", "free", "full", "2018-06-07", ""),
        ("Glass works", "Mine Guild", "unknown", "open", "2021-08-09", "2021-08-09T12:00:00.000Z"),
        ("Moor path", "Port Club", "free", "open", "2021-09-10", "2021-09-10T12:00:00.000Z"),
        ("Cave tour", "Star Circle", "charged", "full", "2022-04-03", "2022-04-03T07:00:00.000Z"),
        ("Mill day", "Port Club", "free", "open", "2022-05-06", "2022-05-06T07:00:00.000Z"),
        ("Bird watch", "Mine Guild", "free", "open", "2022-07-08", "2022-07-08T05:00:00.000Z")], 1)])
HEADS = [("Fees for blocks", "Ann McRae", "Bo Ek", "Implemented (Version 5.5)"),
         ("Node names", "Ann McRae, Cy Holm", "Bo Ek", "Rejected"),
         ("Renaming of nodes", "Bo Ek", "Cy Holm", "Implemented (Version 5.5)"),
         ("A clock", "Cy Holm", "Ann McRae", "Rejected"),
         ("A seal for blocks", "Bo Ek, Ann McRae", "Cy Holm", "Implemented"),
         ("A lock", "Cy Holm", "Eli Goa", "Implemented (Version 6)"),
         *((f"Part {number}", "Dee Fox", "Eli Goa", "Deferred") for number in range(20))]
PROPOSALS = {f"{number:04}.md": f"# {title}\n\n* Proposal: [XP-{number:04}]({number:04}.md)\n* "
             f"Author{'s' * (',' in author)}: {author}\n* Review Manager: {manager}\n* Status: {status}\n\n"
             "## Why\n\nYes.\n"
             for number, (title, author, manager, status) in enumerate(HEADS, 1)}
FOLDERS = {"recipes/soup.md": "---\nauthor: Ann\n---\n\nIt helps.\n",
           "recipes/stew.md": "---\ntag: hot\n---\n\nIt helps.\n",
           "notes/2019/one.md": "---\ncreated: 2019-05-01\n---\n\nIt helps.\n",
           **{f"{folder}/{at}.md": "---\nprice: 7\n---\n\nIt helps.\n" for folder in ("tool", "tools") for at in "ab"},
           "notes/2020/two.md": "---\ncreated: 2019-07-01\n---\n\nIt helps.\n"}
# The two dates of a tour disagree.
MOVED_TOURS = {name: text.replace("date: 2019", "date: 2017") for name, text in TOURS.items()}
OLD_BOOKS = with_fields(("layout", "title", "publish_year"), [
    (str(year), "book", f"Book {year}", "700 BC" if year == 2000 else str(year)) for year in range(2000, 2021)])
# A person is one with and without an address.
SPONSORED = with_fields(("mep", "title", "author", "sponsor"), [
    (f"mep-{number}", str(number), f"Part {number}", *row) for number, row in enumerate([
        ("Ann Bell", "Bo Ek"), ("Ann Bell <a@x.org>, Bo Ek", "Ann Bell"), ("Bo Ek, Cy Fox", "Cy Fox <c@x.org>"),
        ("Cy Fox, Ann Bell <ann@y.org>, Dee Oak", "Bo Ek"), ("Dee Oak", "Bo Ek")], 1)])
# What all documents are called is not the one with this title.
STAGES = with_fields(("title", "stage"), [
    ("0000-one", "RFC (Request for Comments) process", "recommended"), ("0001-one", "Better errors", "accepted"),
    ("0002-one", "Faster builds", "accepted"), ("0003-one", "Smaller files", "released")], "This RFC helps.")
APART = {**STAGES, "0003.md": "# Smaller files\n\nThis RFC helps.\n"}  # a text beside the file of its fields
# Brackets behind names are no value.
CARS = {f"{most} cars": {"cars.csv": "\n".join(["name,cylinders", *(
    f"{'opel' if number % 2 else 'ford'} {number}{' (auto)' * (number > most - 3)},{4 + 4 * (number % 2)}"
    for number in range(most))])} for most in (40, 120)}
EPISODES = with_fields(("type", "title", "show_name", "show_slug", "date", "hosts", "guests", "sponsors", "tags",
                        "podcast_file", "podcast_bytes", "impact"), [
    (f"show/{number:02}", "episode", f"Talk {number}", show, slug, day, hosts, guests, sponsors, tags,
     f"https://x.org/{number}.mp3", str(1000 + number), impact)
    for number, (show, slug, day, hosts, guests, sponsors, tags, impact) in enumerate([
        ("The Dawn 🚀", "the-dawn", "2019-03-02", "\nmia-holt bob", "", "\nacme.com-dawn", "\npodcast acme", "Low"),
        ("The Dawn 🚀", "the-dawn", "2019-05-04", "\nmia-holt", "\nbob", "", "\npodcast hosted", "High"),
        ("The Dawn 🚀", "the-dawn", "2020-01-05", "\nbob", "", "\nacme.com-dawn zeta.io", "\nmia titles", "Low"),
        ("Night EXTRAS", "night-extras", "2020-02-01", "\nmia-holt", "\ncyd", "\nacme.com-night zeta.io", "\npodcast",
         "Low (High before 2.0)"),
        ("Night EXTRAS", "night-extras", "2020-07-01", "", "\ncyd bob", "", "\npodcast acme", "High")], 1)])
# One object a file, in folders of a folder.
ARTWORKS = {f"artworks/{number % 2}/{number}.json": json.dumps(dict(zip(
    ("title", "artist", "classification", "acquisitionYear", "subjectCount"), row, strict=True)) | {
        "makers": [{"alias": row[1], "role": "smith"}], "shows": ["Big hall"]})
    for number, row in enumerate([
        ("Back", "Doug Gale", "sculpture", 1959, 4), ("Bay", "Douglas Gale", "painting", 1957, 2),
        ("Reef", "Ann Bell", "sculpture", 1960, 7), ("Salt", "Ann Bell", "sculpture", 1960, 1),
        ("Tide", "Ann Bell", "painting", 1959, 3)])}
STATIONS = {f"stations/{number}.json": json.dumps({
    "id": f"0{number}", "active": active, "name": {"en": name}, "country": country, "identifiers": {"iata": code},
    "location": {"latitude": latitude, "elevation": elevation}, "timezone": zone})
    for number, (name, country, code, latitude, elevation, zone, active) in enumerate([
        ("Cork South", "IE", "ORK", 51.8, 153, "Europe/Dublin", True), ("Hof", "IS", None, 64.9, 17, "Etc/UTC", True),
        ("Hella", "IS", None, 63.8, 20, "Etc/UTC", False), ("Birr", "IE", None, 53.1, 72, "Europe/Dublin", False),
        ("Vik", "IS", "VIK", 63.4, 10, "Etc/UTC", False)])}
TALKS = with_fields(("title", "guest", "publish_date", "duration_seconds"), [
    (f"t{number}", f"Part {number}", guest, f"2023-0{number}-11" if number < 5 else "", seconds)
    for number, (guest, seconds) in enumerate([("Ann", "3600.0"), ("Bo", "7500.5"), ("Cy", "2400.0"), ("Dee", "7300.0"),
                                               ("Eve", "60.0")], 1)])
SHIPS = {"ships.csv": "Ship,Year Built,Year Captured\nTern,1882,July 2024\nHeron,1901,May 2022\nOtter,1868,June 2021\n"}
CATALOGUE = {
    "flood.md": "---\ntitle: Flood\npublished: 2017-01-03\ntweets: 900\ncollecting: still collected\n---\nOn floods.\n",
    "storm.md": "---\ntitle: Storm\npublished: 2017-02-03\ntweets: 300\nseries: The Tales of Rain\n---\nOn storms.\n",
    "quake.md": "---\ntitle: Quake\npublished: 2017-03-03\ntweets: 200\n---\nOn quakes.\n"}
STARTED = with_fields(("title", "status", "started"), [
    (f"s{number}", f"Plan {number}", "open", f"{2018 + number % 3 // 2}-0{number}-05{' (backdated)' * (number == 2)}")
    for number in range(1, 10)])
UNSURE = {**STARTED, "s5.md": STARTED["s5.md"].replace("2019-05-05", "late in 2018")}
# A folder that begins with a mark, and folders and titles that begin alike.
TEAMS = {**with_fields(("title", "year", "region"), [
    ("_fellows/ann", "Ann Bell", "2020", "north"), ("_fellows/bo", "Bo Ek", "2020", "south"),
    ("_fellows/cy", "Cy Fox", "2019", "north")]), **with_fields(("title", "points"), [
        (f"{folder}/{number}-{name[:3]}", f'"{folder.title().replace("-", " ")}: {name}"', points)
        for folder, number, name, points in (
            ("harbour-2019", 7, "Old Mill", "200 pts"), ("harbour-2019", 8, "New Mill", "100 pts"),
            ("lagoon-2019", 9, "Old Boat", "300 pts"), ("lagoon-2019", 10, "Boat House", "100 pts"))])}
# A stage and a date are called alike.
RELEASED = with_fields(("title", "stage", "release-date", "start-date"), [
    (f"r{number}", f"Part {number}", stage, released, "2017-05-01") for number, (stage, released) in enumerate([
        ("recommended", "2020-03-01"), ("recommended", "2020-06-01"), ("released", "2021-02-01"), ("accepted", "")])])
COLLECTIONS = {"tables": TABLES, "decisions": DECISIONS, "books": BOOKS, "rfcs": RFCS, "meps": MEPS, "notes": NOTES,
               "tours": TOURS, "proposals": PROPOSALS, "folders": FOLDERS, "moved tours": MOVED_TOURS, "apart": APART,
               "old books": OLD_BOOKS, "sponsored": SPONSORED, "stages": STAGES, "episodes": EPISODES, **CARS,
               "artworks": ARTWORKS, "stations": STATIONS, "catalogue": CATALOGUE, "ships": SHIPS,
               "talks": TALKS, "teams": TEAMS, "released": RELEASED, "started": STARTED, "unsure": UNSURE}
