"use strict";
const CHINESE = {
  heading: "知识树", numbers: "统计", tree: "社区", entities: "实体", triples: "三元组", attributes: "属性值",
  documents: "文档", level: "第 {} 级社区（0 级最细）",
  schema: "模式（版本 {}）", filter: "筛选", other: "中文 / English", size: "{} 个实体", cohesion: "凝聚度 {}",
  keywords: "关键词", members: "其他成员", more: "另有 {} 项", empty: "此知识库尚无社区。",
  behind: "知识树落后于事实：请重新构建或运行 banyan reindex。", capped: "本页省略了部分内容，各处均注明数目；完整内容请用 JSON 格式导出。",
  limits: "上限：{}（社区 / 每个关键词的三元组 / 每个社区的其他成员 / 每个三元组的引文）。",
};
const labels = [...document.querySelectorAll("[data-t]")].map((element) => ({ element, english: element.textContent }));
const button = document.getElementById("language");
const box = document.getElementById("query");
const found = document.getElementById("found");
let chinese = false;

function translate() {
  document.documentElement.lang = chinese ? "zh" : "en";
  for (const { element, english } of labels) {
    const { t, n } = element.dataset;
    element.textContent = chinese ? CHINESE[t].replace("{}", n ?? "") : english;
  }
  tell();
}

const fold = (text) => text.normalize("NFKC").toLowerCase();
// Read when first needed: it is all of the page's text, several times.
let communities;
const read = () => [...document.querySelectorAll(".c")].map((element) => ({
  element,
  text: fold(element.textContent),
  finest: !element.querySelector(".c"),
  items: [...element.querySelectorAll(":scope > .k > li")].map((item) => ({ item, text: fold(item.textContent) })),
  own: fold([...element.children].filter((child) => child.matches("summary, .s")).map((child) => child.textContent).join(" ")),
}));
let shown = null;

function filter() {
  communities ??= read();
  const query = fold(box.value.trim());
  const hits = communities.filter(({ text }) => text.includes(query));
  const few = query !== "" && hits.length <= 30;
  for (const { element, text, items, own } of communities) {
    element.hidden = !text.includes(query);
    element.open = few && !element.hidden;
    const some = !own.includes(query) && items.some((one) => one.text.includes(query));
    for (const one of items) one.item.hidden = some && !one.text.includes(query);
  }
  shown = query === "" ? null : hits.filter(({ finest }) => finest).length;
  tell();
}

function tell() {
  found.textContent = shown === null ? "" : chinese ? `${shown} 个社区` : shown === 1 ? "1 community" : `${shown} communities`;
}

let waiting;
box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 200); });
button.addEventListener("click", () => { chinese = !chinese; translate(); });
for (const element of document.querySelectorAll("[data-needs-script]")) element.hidden = false;
if (navigator.language.startsWith("zh")) { chinese = true; translate(); }
