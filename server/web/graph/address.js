// What the address of the graph view asks for.

/** The filters, the entity, the community and the citations in the address. */
export const seenIn = (parameters) => ({
  type: parameters.get("type") ?? "",
  relation: parameters.get("relation") ?? "",
  document: parameters.get("of") ?? "",
  id: parameters.get("id") ?? "",
  community: parameters.get("community") ?? "",
  cite: parameters.getAll("cite").join("\n"),
});

/** The spans of an answer's citations, each "start:end:document". */
export const citationsIn = (cites) =>
  cites
    .map((one) => {
      const [, start, end, document] = /^(\d+):(\d+):(.*)$/s.exec(one) ?? [];
      return { document, start: Number(start), end: Number(end) };
    })
    .filter((one) => one.document);
