// Text in a form that hides nothing.

/** Control characters, those that change the direction of other letters, and letters that no font draws. */
const ACTING =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/** A text in which these are shown by their numbers, such as ‹U+202E›; they would hide or reorder words. */
export const visible = (text) =>
  text.replace(ACTING, (one) => `‹U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
