// A page of a PDF file as the printed work has it, beside its text.

import { getBlob, of } from "./api.js";
import { button, failure, fill, h } from "./dom.js";
import { t } from "./strings.js";

/** The picture of a page, with buttons for the others; `first` is a page from 1, `count` their number. */
export function printedPages(base, id, first, count) {
  const place = h("div", { class: "printed-page", tabindex: "0", role: "region", "aria-label": t("source.printed") });
  const number = h("span", { "aria-live": "polite" });
  const left = new AbortController();
  let page = 0;
  const show = async (wanted) => {
    page = wanted;
    number.textContent = t("source.page.of", { page: wanted, pages: count });
    previous.disabled = wanted === 1;
    next.disabled = wanted === count;
    try {
      const picture = await drawn(await getBlob(of(base, "/document/page"), { id, page: wanted }, left.signal));
      picture.setAttribute("aria-label", t("source.picture", { page: wanted, document: id }));
      if (page === wanted) fill(place, picture);
    } catch (error) {
      if (error.name !== "AbortError") fill(place, failure(error));
    }
  };
  const previous = button(t("page.previous"), () => show(page - 1), { class: "small" });
  const next = button(t("page.next"), () => show(page + 1), { class: "small" });
  show(first);
  // Once they are in their dialog: drawing takes seconds, and the document may be deleted by then.
  queueMicrotask(() => place.closest("dialog")?.addEventListener("close", () => left.abort()));
  return h("section", { class: "printed" }, h("div", { class: "pages" }, previous, number, next), place);
}

/** A picture on a canvas: the page's policy lets no image be shown that is not fetched by its address. */
async function drawn(blob) {
  const picture = await createImageBitmap(blob);
  const canvas = h("canvas", { width: picture.width, height: picture.height, role: "img" });
  canvas.getContext("2d").drawImage(picture, 0, 0);
  return canvas;
}
