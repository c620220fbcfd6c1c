// The card of a citation: its quote and its place, while the pointer or the focus is on its number.

import { fill, h } from "../dom.js";
import { quoted } from "../markdown.js";
import { placeOf } from "../sources.js";

const GAP = 6;
/** Milliseconds in which the pointer can move from the number into the card. */
const WAIT = 200;

let card = null;

/** Show a card for a citation at a link to it. */
export function withCard(link, citation) {
  let timer = 0;
  const close = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      card?.remove();
      link.removeAttribute("aria-describedby");
    }, WAIT);
  };
  const open = () => {
    clearTimeout(timer);
    if (card?.link === link && card.isConnected) return;
    card?.remove();
    card = cardOf(citation);
    card.link = link;
    card.addEventListener("mouseenter", () => clearTimeout(timer));
    card.addEventListener("mouseleave", close);
    link.after(card);
    link.setAttribute("aria-describedby", card.id);
    card.showPopover();
    place(link.getBoundingClientRect());
  };
  for (const event of ["mouseenter", "focus"]) link.addEventListener(event, open);
  for (const event of ["mouseleave", "blur"]) link.addEventListener(event, close);
  link.addEventListener("keydown", (event) => {
    if (event.key === "Escape") card?.remove();
  });
  return link;
}

function cardOf(citation) {
  const element = h("span", { class: "cite-card", id: "cite-card", role: "tooltip", popover: "manual" });
  return fill(
    element,
    quoted(citation.quote),
    h("cite", {}, placeOf(citation), citation.title && citation.title !== citation.document && ` · ${citation.title}`),
  );
}

/** Below the number, or above it where there is more room. */
function place({ left, top, bottom }) {
  const { offsetWidth: width, offsetHeight: height } = card;
  const below = bottom + GAP + height <= innerHeight;
  card.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
  card.style.top = `${below ? bottom + GAP : Math.max(GAP, top - GAP - height)}px`;
}
