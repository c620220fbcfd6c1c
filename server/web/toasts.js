// Short messages at the edge of the page: what was done, with a button that undoes it.

import { announce, failure, fill, h } from "./dom.js";
import { t } from "./strings.js";

const SHOWN = 8000;

let element = null;
let timer = 0;

/** Show what was done; `undo()`, if given, undoes it. A new message replaces the last one. */
export function toast(text, undo = null) {
  announce(text);
  element ??= h("div", { class: "toast", popover: "manual", role: "group", "aria-label": t("toast.label") });
  const back = undo && h("button", { type: "button", class: "small" }, t("edit.undo"));
  back?.addEventListener("click", () => takeBack(back, undo));
  const close = h("button", { type: "button", class: "quiet small", "aria-label": t("toast.close") }, "×");
  close.addEventListener("click", hide);
  fill(element, h("span", {}, text), back, close);
  if (!element.isConnected) {
    document.body.append(element);
    for (const event of ["mouseenter", "focusin"]) element.addEventListener(event, () => clearTimeout(timer));
    for (const event of ["mouseleave", "focusout"]) element.addEventListener(event, leaveSoon);
  }
  // Shown anew, it is above a dialog that was opened meanwhile.
  if (element.matches(":popover-open")) element.hidePopover();
  element.showPopover();
  leaveSoon();
}

function leaveSoon() {
  clearTimeout(timer);
  timer = setTimeout(hide, SHOWN);
}

function hide() {
  clearTimeout(timer);
  if (element.matches(":popover-open")) element.hidePopover();
}

async function takeBack(button, undo) {
  button.disabled = true;
  try {
    await undo();
    hide();
    announce(t("toast.undone"));
  } catch (error) {
    fill(element, failure(error));
  }
}
