// The conversation: questions, and their answers as they stream in.

import { get, of, remove, stream } from "../api.js";
import { announce, button, failure, fill, h } from "../dom.js";
import { go, href, route } from "../route.js";
import { t } from "../strings.js";
import { toast } from "../toasts.js";
import { answerView } from "./answer.js";
import { composer, OPTIONS } from "./composer.js";
import { Conversations, headOf } from "./conversations.js";
import { afterAnswer, followUps } from "./feedback.js";
import { documentsOf, scopeLine } from "./scope.js";
import { checkModel } from "./model.js";
import { traceView } from "./trace.js";
import { firstPage, welcome } from "./welcome.js";

const KEPT = "banyan.thread.";

/** Conversations by thread: running ones survive a visit to another view. */
const talks = new Map();

let view = null;

/** An unguessable thread name, saved with the first question: before that, the server does not know the thread. */
function newThread() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const blank = (base, thread) => ({ base, thread, title: "", link: null, turns: [], running: null });

/** The conversation in the address or the tab's memory; after a reload, it is fetched from the server. */
async function conversation(base) {
  const { parameters } = route();
  const link = parameters.get("shared");
  if (link) return { ...blank(base, ""), ...fromServer(await get(`shared/${link}`)), readOnly: true };
  const thread = parameters.get("thread") ?? sessionStorage.getItem(KEPT + base);
  if (!thread) return blank(base, newThread());
  const key = `${base} ${thread}`;
  if (!talks.has(key)) talks.set(key, { ...blank(base, thread), ...(await remembered(base, thread)) });
  sessionStorage.setItem(KEPT + base, thread);
  return talks.get(key);
}

/** A conversation from the server; empty if the server does not know it. */
async function remembered(base, thread) {
  try {
    return fromServer(await get(`threads/${thread}`, { kb: base }));
  } catch (error) {
    if (error.status === 404) return {};
    throw error;
  }
}

const fromServer = ({ title, link = null, turns }) => ({
  title,
  link,
  turns: turns.map(({ number, question, documents, where, answer, rating }) => ({
    number,
    question,
    documents,
    where,
    answer,
    rating,
    steps: answer.trace ?? [],
    text: answer.answer,
    state: "answered",
  })),
});

/** Show the view. */
export async function show(root, base) {
  if (!base) {
    firstPage(root);
    return;
  }
  const talk = await conversation(base);
  if (!root.isConnected) return;
  const turns = h("div", { class: "turns", tabindex: "0", role: "region", "aria-label": t("ask.turns") });
  const list = new Conversations(base, talk.thread);
  view = { root, talk, turns, list, head: h("div", { class: "view-head" }) };
  view.composer = talk.readOnly ? null : composer(base, { ask, stop: () => talk.running?.abort() });
  fill(
    root,
    h("div", { class: "ask" },
      list.element,
      h("div", { class: "talk" }, view.head, turns, view.composer?.element),
    ),
  );
  if (!talk.turns.length) turns.append(welcome(base, ask));
  for (const turn of talk.turns) turns.append(turnView(talk, turn));
  showHead();
  showRunning();
  showFollowUps();
  if (talk.turns.length) turns.scrollTop = turns.scrollHeight;
  await list.show();
}

/** Follow the address to another conversation. */
export async function follow() {
  if (!view?.root.isConnected) return;
  const { parameters } = route();
  const named = parameters.get("shared") ? "" : parameters.get("thread");
  if (named !== null && named !== view.talk.thread) await show(view.root, view.talk.base);
}

/** Start a new conversation; earlier ones stay in the list. */
function startNew() {
  sessionStorage.removeItem(KEPT + view.talk.base);
  if (route().parameters.get("thread") || route().parameters.get("shared")) {
    go(href("ask", { kb: view.talk.base }), { replace: true });
  }
  return show(view.root, view.talk.base);
}

async function forget() {
  const { base, thread } = view.talk;
  view.talk.running?.abort();
  await remove(`threads/${thread}`, { kb: base });
  talks.delete(`${base} ${thread}`);
  await startNew();
  toast(t("talk.deleted"));
}

function showHead() {
  const changed = async () => {
    showHead();
    await view.list.show();
  };
  fill(view.head, headOf(view.talk, { changed, forget, startNew }));
}

function showRunning() {
  if (!view.composer) return;
  view.composer.send.disabled = Boolean(view.talk.running);
  view.composer.stop.hidden = !view.talk.running;
}

const ask = (question) => run(view.talk, question);

/** Ask, and show the events as they arrive. */
async function run(talk, question) {
  if (talk.running) return;
  const documents = documentsOf(talk.base);
  const turn = {
    question,
    documents,
    steps: [],
    text: "",
    citations: [],
    state: "running",
    mode: OPTIONS.mode,
    rating: 0,
  };
  talk.running = new AbortController();
  talks.set(`${talk.base} ${talk.thread}`, talk);
  sessionStorage.setItem(KEPT + talk.base, talk.thread);
  talk.turns.push(turn);
  if (talk.turns.length === 1) fill(view.turns);
  view.turns.querySelector(".follow-ups")?.remove();
  view.turns.append(turnView(talk, turn));
  turn.element.scrollIntoView({ block: "start" });
  showRunning();
  announce(t("ask.searching"));
  const body = { question, ...OPTIONS, documents, trace: true, thread: talk.thread };
  try {
    for await (const { event, data } of stream(of(talk.base, "/ask/stream"), { body, signal: talk.running.signal })) {
      take(turn, event, data);
      showTurn(talk, turn);
    }
    if (turn.state === "running") throw new Error(t("ask.broken"));
  } catch (error) {
    turn.state = error.name === "AbortError" ? "stopped" : "failed";
    turn.error = error;
  }
  talk.running = null;
  talk.title ||= turn.state === "answered" ? question : "";
  showTurn(talk, turn);
  announce(said(turn));
  if (view.talk !== talk) return;
  showHead();
  showRunning();
  showFollowUps();
  // Scroll to the question, above its answer, however long the answer is.
  turn.element.scrollIntoView({ block: "start" });
  await view.list.show();
}

/** Ask a question that failed once more, in its place. */
async function again(talk, turn) {
  if (talk.running) return;
  talk.turns.splice(talk.turns.indexOf(turn), 1);
  turn.element.remove();
  await run(talk, turn.question);
}

function take(turn, event, data) {
  if (event === "step") turn.steps.push(data.trace);
  if (event === "claim") turn.citations.push(...data.citations);
  if (event === "token") turn.text += data.text;
  if (event === "withdrawn") Object.assign(turn, { text: "", citations: [] });
  if (event === "answer")
    Object.assign(turn, { answer: data, text: data.answer, number: data.turn, state: "answered" });
  if (event === "error") throw new Error(data.message);
}

function said(turn) {
  if (turn.state === "answered") return turn.answer.abstained ? `${t("answer.abstained")}: ${turn.text}` : turn.text;
  return turn.state === "failed" ? turn.error.message : t("ask.stopped");
}

/** Follow-up questions to the last answer. */
function showFollowUps() {
  const { talk, turns } = view;
  turns.querySelector(".follow-ups")?.remove();
  const last = talk.turns.at(-1);
  if (talk.readOnly || last?.state !== "answered" || !last.answer.citations.length) return;
  turns.append(followUps(talk, last, ask));
}

function turnView(talk, turn) {
  turn.element = h("article", { class: "turn" });
  showTurn(talk, turn);
  return turn.element;
}

function showTurn(talk, turn) {
  const wasOpen = turn.element.querySelector("details.trace")?.open;
  turn.element.setAttribute("aria-busy", String(turn.state === "running"));
  fill(
    turn.element,
    h("h2", { class: "question" }, turn.question),
    scopeLine(turn),
    turn.state === "running" && !turn.text && progress(turn),
    turn.state === "failed" && failure(turn.error),
    turn.state === "failed" &&
      !talk.readOnly &&
      h("div", { class: "actions start" },
        button(t("ask.again"), () => again(talk, turn)),
        button(t("model.check"), checkModel),
      ),
    turn.state === "stopped" && h("p", { class: "notice" }, t("ask.stopped")),
    turn.text && answerView(talk.base, turn, turn.state === "running" && progress(turn)),
    turn.state === "answered" && afterAnswer(talk, turn),
    turn.steps.length > 0 && traceView(turn, Boolean(wasOpen), talk.base),
  );
}

/** The current step in one line. */
function progress(turn) {
  const last = turn.steps.at(-1);
  const searches = turn.steps.filter((step) => step.step === "search").length;
  const doing =
    turn.text || last?.step === "answer"
      ? t("ask.doing.answer")
      : !last || last.step === "question"
        ? t("ask.doing.look")
        : last.step === "search" || last.lookups
          ? t("ask.doing.search", { n: searches, round: last.round })
          : t("ask.doing.reflect");
  return h("p", { class: "progress" }, h("span", { class: "pulse", "aria-hidden": "true" }), doing);
}
