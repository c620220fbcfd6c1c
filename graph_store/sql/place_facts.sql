-- A row for each fact and time. What is stated without a time holds at all times, unless its chunk says when.
WITH dated AS (SELECT timed.*, times.* EXCLUDE (words) FROM timed JOIN times USING (words)),
undated AS (SELECT * FROM stated ANTI JOIN dated USING (fact, chunk)),
whens AS (SELECT DISTINCT fact, since, until, qualifiers, is_open FROM dated),
placed AS (
    SELECT fact, chunk, first, last, since, until, qualifiers, is_open FROM dated UNION ALL
    SELECT fact, chunk, first, last, since, until, qualifiers, is_open FROM undated LEFT JOIN whens USING (fact))
SELECT fact, since, until, qualifiers, is_open, list(DISTINCT document ORDER BY document),
    min({'document': document, 'start': begin + first, 'end': begin + last})
FROM placed JOIN chunks USING (chunk) GROUP BY ALL
ORDER BY fact, since NULLS FIRST, until NULLS FIRST, qualifiers NULLS FIRST, is_open NULLS FIRST
