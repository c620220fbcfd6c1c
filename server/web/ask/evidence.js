// The part of the graph that an answer's citations state.

import { of, post } from "../api.js";
import { isSeveral } from "../bases.js";

/** The places of an answer's citations. */
export const spans = (answer) => answer.citations.map(({ document, start, end }) => ({ document, start, end }));

/** The facts behind an answer with their entities, fetched once for a turn; none of several bases, which have a graph each. */
export function evidenceOf(base, turn) {
  if (isSeveral(base)) turn.evidence = Promise.resolve({ nodes: [], edges: [] });
  turn.evidence ??= post(of(base, "/graph/evidence"), { citations: spans(turn.answer) });
  return turn.evidence;
}
