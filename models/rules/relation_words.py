"""How English says the common relations: for schemas that name a relation and give no cues.

General knowledge of the language, by the names such relations have in widely used vocabularies
(Wikidata, schema.org). The marks are those of `schemas.graph_schema.SchemaElement`.
"""

_WRITTEN = ("<wrote", "written by", "<co-wrote", "co-written by", "<penned", "penned by")

WORDS_OF: dict[str, tuple[str, ...]] = {
    "director": ("<directed", "<co-directed", "directed by", "film by", "<director of"),
    "screenwriter": (*_WRITTEN, "screenplay by", "script by", "story by", "teleplay by", "<screenwriter of"),
    "author": (*_WRITTEN, "<authored", "novel by", "book by", "play by", "poem by", "story by", "<author of"),
    "composer": ("<composed", "composed by", *_WRITTEN, "music by", "score by", "composition by", "<scored"),
    "lyricist": ("lyrics by", "words by", "text by", "libretto by", "<lyricist of", *_WRITTEN),
    "performer": ("<performed", "performed by", "<recorded", "recorded by", "sung by", "<sang", "song by", "single by",
                  "album by", "track by", "<released", "released by", "hit by", "covered by"),
    "producer": ("<produced", "produced by", "<co-produced", "co-produced by", "production by", "<producer of"),
    "production company": ("<produced", "produced by", "made by", "production by", "developed by", "animated by",
                           "created by", "co-produced by"),
    "distributor": ("<distributed", "distributed by", "released by"),
    "publisher": ("<published", "published by", "issued by"),
    "record label": ("released by", "released through", "released on", "released via", "released under", "issued by",
                     "signed to", "signed with", "issued on", "through", "via"),
    "cast member": ("starring", "stars", "starred", "featuring", "features", "the cast includes", "<starred in",
                    "<appeared in", "<stars in", "<appears in", "<starring in", "<played in"),
    "characters": ("follows", "featuring", "features", "the story of", "protagonist", "stars", "centers on",
                   "centres on", "<appears in", "<character in", "characters"),
    "genre": ("{modifier}",),
    "occupation": ("{noun}",),
    "voice type": ("{noun}",),
    "sport": ("{modifier}",),
    "position": ("plays as", "played as"),
    "based on": ("based on", "based upon", "adapted from", "adaptation of", "inspired by", "based loosely on",
                 "retelling of", "derived from"),
    "award received": ("won", "received", "was awarded", "winner of", "recipient of", "earned", "was honoured with",
                       "was honored with", "winning", "<was awarded to"),
    "nominated for": ("nominated for", "nomination for", "nominations for", "was shortlisted for", "nominee for"),
    "country of origin": ("produced in", "made in", "originated in", "originating in", "comes from", "from"),
    "narrative location": ("set in", "takes place in", "taking place in", "is set in", "set around"),
    "filming location": ("filmed in", "shot in", "filmed at", "shot at", "filming in", "filmed on location in",
                         "shot on location in", "filming took place in", "filming at", "was filmed in"),
    "main subject": ("about", "deals with", "is about", "the story of", "chronicles", "explores", "depicts"),
    "part of": ("part of", "included in", "included on", "from the album", "belongs to", "taken from",
                "appears on", "single from", "track on", "track from", "song from", "from", "album"),
    "tracklist": ("features", "includes", "contains", "including", "contained", "included", "<from the album",
                  "<included on", "<appears on", "<track on", "<single from", "<song from"),
    "language": ("written in", "sung in", "spoken in", "is in"),
    "instrumentation": ("scored for", "arranged for", "composition for", "work for", "written for", "for solo", "for"),
    "member of sports team": ("plays for", "played for", "joined", "signed for", "signed with", "playing for",
                              "player for", "moved to", "member of", "plays with", "played with", "side", "club"),
    "country for sport": ("represented", "represents", "plays for", "competed for", "competing for", "played for",
                          "from"),
    "coach of sports team": ("coach of", "manager of", "coached", "managed", "head coach of", "coach at", "manages",
                             "coaches", "head coach at"),
    "league": ("plays in", "played in", "competes in", "compete in", "competed in", "playing in", "member of"),
    "season of": ("season of", "edition of", "the season of"),
    "home venue": ("plays at", "play at", "home games at", "home matches at", "home stadium is", "home ground is",
                   "based at"),
    "publication date": ("released on", "was released", "published in", "premiered on", "released in"),
}
"""Relation -> cues; the relation by the name that is the key, or one of `SAME`."""

SAME: dict[str, str] = {
    "writer": "author", "written by": "author", "directed by": "director", "produced by": "producer",
    "composed by": "composer", "lyrics by": "lyricist", "performed by": "performer", "artist": "performer",
    "starring": "cast member", "actor": "cast member", "cast": "cast member", "character": "characters",
    "characters in": "characters", "literary genre": "genre", "music genre": "genre", "profession": "occupation",
    "job": "occupation", "adapted from": "based on", "award": "award received", "received award": "award received",
    "awards": "award received", "nominee": "nominated for",
    "origin": "country of origin", "set in": "narrative location",
    "setting": "narrative location", "shot in": "filming location", "filmed in": "filming location",
    "subject": "main subject", "topic": "main subject", "about": "main subject", "contains": "tracklist",
    "track listing": "tracklist", "language of work or name": "language", "original language": "language",
    "language of work": "language", "label": "record label", "team": "member of sports team",
    "plays for": "member of sports team", "member of": "member of sports team", "coach": "coach of sports team",
    "head coach": "coach of sports team", "stadium": "home venue", "home ground": "home venue",
    "sports season of league or competition": "season of", "release date": "publication date",
    "instrument": "instrumentation", "competition class": "sport",
}
"""Other names of the same relations."""

IRREGULAR: dict[str, tuple[str, ...]] = {
    "writer": ("wrote", "written"), "singer": ("sang", "sung"), "builder": ("built",), "maker": ("made",),
    "leader": ("led",), "holder": ("held",), "teacher": ("taught",), "seller": ("sold",), "winner": ("won",),
    "keeper": ("kept",), "finder": ("found",), "speaker": ("spoke", "spoken"), "driver": ("drove", "driven"),
    "owner": ("owned",), "buyer": ("bought",), "begetter": ("begot", "begotten"),
}
"""Agent noun -> past forms of its verb, where '-er' does not become '-ed'."""
