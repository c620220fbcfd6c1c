// The part of the graph that an answer's citations state.

import { of, post } from "../api.js";

/** The places of an answer's citations. */
export const spans = (answer) => answer.citations.map(({ document, start, end }) => ({ document, start, end }));

/** The facts behind an answer with their entities, fetched once for a turn. */
export function evidenceOf(base, turn) {
  turn.evidence ??= post(of(base, "/graph/evidence"), { citations: spans(turn.answer) });
  return turn.evidence;
}
