// A page of a PDF file as the printed work has it, beside its text.

import { getBlob, of } from "./api.js";
import { button, failure, fill, h } from "./dom.js";
import { t } from "./strings.js";

const LONGEST = 1500;
/** The colour of marked words, as the server lays it over white. */
const MARK = [255, 226, 122];

/** The picture of a page with some words marked, with buttons for the others; `first` is a page from 1, of `count`. */
export function printedPages(base, id, first, count, words = "") {
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
      const picture = await drawn(await getBlob(of(base, "/document/page"), { id, page: wanted, words: words.slice(0, LONGEST) }, left.signal));
      picture.setAttribute("aria-label", t("source.picture", { page: wanted, document: id }));
      if (page !== wanted) return;
      fill(place, picture);
      const marked = words ? markedAt(picture) : -1;
      if (marked >= 0) place.scrollTop = (marked / picture.height) * picture.clientHeight - place.clientHeight / 2;
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
  canvas.getContext("2d", { willReadFrequently: true }).drawImage(picture, 0, 0);
  return canvas;
}

/** The first line of a picture that has marked words, or -1. */
function markedAt(picture) {
  const { width, height } = picture;
  const { data } = picture.getContext("2d").getImageData(0, 0, width, height);
  for (let at = 0; at < data.length; at += 4) {
    if (MARK.every((value, place) => data[at + place] === value)) return Math.floor(at / 4 / width);
  }
  return -1;
}
