// The conversation: questions, answers as they stream in, and how they are to be answered.

import { get, of, remove, stream } from "./api.js";
import { known } from "./bases.js";
import { announce, button, failure, field, fill, h } from "./dom.js";
import { href, route } from "./route.js";
import { t } from "./strings.js";
import { answerView } from "./answer.js";
import { traceView } from "./trace.js";

const KEPT = "banyan.thread.";
const OPTIONS = { mode: "reject", agent: true };
const NEAR_END = 120;

/** Conversations by knowledge base: they outlive a visit to another view. */
const conversations = new Map();

let view = null;

/** A conversation with the server's thread of it; what a reload forgot is asked of the server. */
async function conversation(base) {
  if (!conversations.has(base)) {
    const thread = sessionStorage.getItem(KEPT + base);
    const found = { base, thread: thread ?? newThread(), turns: [], running: null };
    conversations.set(base, found);
    if (thread) found.turns = await remembered(base, thread);
  }
  return conversations.get(base);
}

/** A name that nobody guesses. It is kept from the first question on: before, the server knows of no such thread. */
function newThread() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Earlier turns as the server has them: texts alone, without citations. */
async function remembered(base, thread) {
  const { messages } = await get(`threads/${thread}`, { kb: base }).catch((error) => {
    if (error.status === 404) return { messages: [] };
    throw error;
  });
  const turns = [];
  for (const { role, content } of messages) {
    if (role === "user") turns.push({ question: content, steps: [], text: "", state: "stopped" });
    else if (turns.length) Object.assign(turns.at(-1), { text: content, state: "remembered" });
  }
  return turns;
}

/** Show the view. */
export async function show(root, base) {
  const talk = await conversation(base);
  if (!root.isConnected) return;
  const turns = h("div", { class: "turns" });
  const question = h("textarea", {
    rows: 2,
    maxlength: 10000,
    required: true,
    value: route().parameters.get("q") ?? "",
  });
  const send = h("button", { type: "submit", class: "primary" }, t("ask.send"));
  const stop = button(t("ask.stop"), () => talk.running?.abort(), { class: "danger", hidden: true });
  const restart = restartButton(talk, root);
  view = { talk, turns, send, stop, restart };
  const form = h(
    "form",
    { class: "composer" },
    field(t("ask.question"), question, { class: "field grow" }),
    options(),
    h("div", { class: "actions" }, stop, send),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = question.value.trim();
    if (!asked || talk.running) return;
    question.value = "";
    run(talk, asked);
  });
  question.addEventListener("keydown", (event) => {
    // While an input method composes (Chinese, Japanese), Enter takes a word and sends nothing.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  fill(
    root,
    h(
      "div",
      { class: "ask" },
      h("div", { class: "view-head" }, h("h1", {}, t("ask.title")), restart),
      turns,
      base ? form : nothingYet(),
    ),
  );
  for (const turn of talk.turns) turns.append(turnView(talk, turn));
  welcome();
  showRunning();
  question.focus({ preventScroll: true });
}

/** Begin a new conversation, and let the server forget the old one. */
function restartButton(talk, root) {
  const restart = async () => {
    talk.running?.abort();
    const old = talk.thread;
    const kept = talk.turns.some((turn) => turn.answer || turn.state === "remembered");
    sessionStorage.removeItem(KEPT + talk.base);
    Object.assign(talk, { thread: newThread(), turns: [], running: null });
    await show(root, talk.base);
    if (kept) await remove(`threads/${old}`, { kb: talk.base });
  };
  return button(t("ask.new"), restart, { class: "quiet" });
}

function welcome() {
  const { talk, turns } = view;
  if (talk.turns.length || !talk.base) return;
  const found = known(talk.base);
  turns.append(
    h(
      "p",
      { class: "welcome" },
      found?.documents ? t("ask.welcome", { n: found.documents, base: talk.base }) : t("ask.empty"),
    ),
  );
}

const nothingYet = () => h("p", {}, h("a", { href: href("documents") }, t("ask.begin")));

function options() {
  const mode = h(
    "select",
    {},
    h("option", { value: "reject" }, t("ask.mode.reject")),
    h("option", { value: "open" }, t("ask.mode.open")),
  );
  mode.value = OPTIONS.mode;
  mode.addEventListener("change", () => {
    OPTIONS.mode = mode.value;
  });
  const agent = h("input", { type: "checkbox", checked: OPTIONS.agent });
  agent.addEventListener("change", () => {
    OPTIONS.agent = agent.checked;
  });
  return h("div", { class: "options" }, field(t("ask.mode"), mode, { class: "inline" }), field(t("ask.agent"), agent));
}

function showRunning() {
  const running = Boolean(view.talk.running);
  view.send.disabled = running;
  view.restart.hidden = !view.talk.turns.length;
  view.stop.hidden = !running;
}

/** Ask, and show what comes as it comes. */
async function run(talk, question) {
  const turn = { question, steps: [], text: "", state: "running", mode: OPTIONS.mode };
  talk.running = new AbortController();
  sessionStorage.setItem(KEPT + talk.base, talk.thread);
  talk.turns.push(turn);
  if (talk.turns.length === 1) fill(view.turns);
  view.turns.append(turnView(talk, turn));
  turn.element.scrollIntoView({ block: "start" });
  showRunning();
  announce(t("ask.searching"));
  const body = { question, ...OPTIONS, trace: true, thread: talk.thread };
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
  showTurn(talk, turn);
  if (view.talk === talk) showRunning();
  announce(said(turn));
}

function take(turn, event, data) {
  if (event === "step") turn.steps.push(data.trace);
  if (event === "token") turn.text += data.text;
  if (event === "answer") Object.assign(turn, { answer: data, text: data.answer, state: "answered" });
  if (event === "error") throw new Error(data.message);
}

function said(turn) {
  if (turn.state === "answered") return turn.answer.abstained ? `${t("answer.abstained")}: ${turn.text}` : turn.text;
  return turn.state === "failed" ? turn.error.message : t("ask.stopped");
}

function turnView(talk, turn) {
  turn.element = h("article", { class: "turn" });
  showTurn(talk, turn);
  return turn.element;
}

function showTurn(talk, turn) {
  const follow =
    turn.element.isConnected && window.innerHeight + window.scrollY > document.documentElement.scrollHeight - NEAR_END;
  const wasOpen = turn.element.querySelector("details.trace")?.open;
  turn.element.setAttribute("aria-busy", String(turn.state === "running"));
  fill(
    turn.element,
    h("h2", { class: "question" }, turn.question),
    turn.state === "running" && !turn.text && progress(turn),
    turn.state === "failed" && failure(turn.error),
    turn.state === "stopped" && h("p", { class: "notice" }, t("ask.stopped")),
    turn.text && answerView(talk.base, turn),
    turn.steps.length > 0 && traceView(turn, Boolean(wasOpen)),
  );
  if (follow && turn.text && turn.state === "running") window.scrollTo(0, document.documentElement.scrollHeight);
}

/** What is being done, in one line. */
function progress(turn) {
  const last = turn.steps.at(-1);
  const searches = turn.steps.filter((step) => step.step === "search").length;
  const doing =
    !last || last.step === "question"
      ? t("ask.doing.decompose")
      : last.step === "decompose" || last.step === "search"
        ? t("ask.doing.search", { n: searches, round: last.round })
        : last.step === "fuse"
          ? t("ask.doing.reflect")
          : t("ask.doing.answer");
  return h("p", { class: "progress" }, h("span", { class: "pulse", "aria-hidden": "true" }), doing);
}
