// The conversations about a knowledge base: their list, and actions on the current one.

import { get, put } from "../api.js";
import { copied } from "../copying.js";
import { confirmed, dialog, formDialog } from "../dialogs.js";
import { button, failure, field, fill, h } from "../dom.js";
import { href } from "../route.js";
import { moment, t } from "../strings.js";
import { toast } from "../toasts.js";

const WIDE = "(min-width: 64rem)";

/** The list, most recently used first. */
export class Conversations {
  constructor(base, thread) {
    Object.assign(this, { base, thread });
    this.list = h("ul", { class: "plain talks-list" });
    this.element = h("details", { class: "talks", open: matchMedia(WIDE).matches, hidden: true },
      h("summary", {}, t("talk.all")),
      this.list,
    );
  }

  async show() {
    try {
      const { items } = await get("threads", { kb: this.base });
      this.element.hidden = !items.length;
      fill(this.list, items.map((one) => this.#item(one)));
    } catch (error) {
      fill(this.list, failure(error));
    }
  }

  #item({ name, title, used_at: used }) {
    const current = name === this.thread;
    return h("li", {},
      h("a", { href: href("ask", { kb: this.base, thread: name }), "aria-current": current ? "page" : null, title },
        h("span", { class: "talk-title" }, title),
        h("span", { class: "soft" }, moment(used)),
      ),
    );
  }
}

/** The heading of a conversation: its title and actions. */
export function headOf(talk, { changed, forget, startNew }) {
  if (talk.readOnly)
    return [
      h("h1", {}, talk.title),
      h("p", { class: "soft" }, t("talk.shared.read")),
      button(t("ask.new"), startNew, { class: "quiet" }),
    ];
  if (!talk.title) return [h("h1", {}, t("ask.title"))];
  const change = async (body) => {
    const { title, link } = await put(`threads/${talk.thread}`, body, {
      method: "PATCH",
      parameters: { kb: talk.base },
    });
    Object.assign(talk, { title, link });
    await changed();
  };
  const rename = async () => {
    const before = talk.title;
    const title = await askTitle(before);
    if (!title || title === before) return;
    await change({ title });
    toast(t("talk.renamed", { name: title }), () => change({ title: before }));
  };
  const drop = async () => {
    if (await confirmed(t("talk.delete.title"), t("talk.delete.sure", { title: talk.title }), t("talk.delete")))
      await forget();
  };
  return [
    // The first question is the title until the user changes it; the question itself is right below.
    h("h1", { class: talk.title === talk.turns[0]?.question ? "unseen" : "talk-head", title: talk.title }, talk.title),
    h("div", { class: "actions end" },
      button(t("talk.rename"), rename, { class: "quiet small" }),
      button(t("talk.share"), () => share(talk, change), { class: "quiet small" }),
      button(t("talk.delete"), drop, { class: "quiet small" }),
      button(t("ask.new"), startNew, { class: "small" }),
    ),
  ];
}

function askTitle(now) {
  const input = h("input", { required: true, maxlength: 200, value: now, autofocus: true });
  return formDialog(t("talk.rename.title"), field(t("talk.name"), input), t("talk.rename"), () => input.value.trim());
}

/** Share a conversation through a link, or stop sharing it. */
async function share(talk, change) {
  if (!talk.link) await change({ shared: true });
  const address = `${location.origin}${location.pathname}${href("ask", { kb: talk.base, shared: talk.link })}`;
  await dialog(t("talk.share.title"), (close) => [
    h("p", {}, t("talk.share.why")),
    field(t("talk.link"), h("input", { readonly: true, value: address })),
    h("div", { class: "actions" },
      button(t("talk.unshare"), async () => {
        await change({ shared: false });
        close();
        toast(t("talk.unshared"));
      }),
      button(t("page.copy"), () => copied(address), { class: "primary", autofocus: true }),
      button(t("page.close"), () => close()),
    ),
  ]);
}
