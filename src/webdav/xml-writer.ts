// Characters that no XML 1.0 document may contain, not even escaped.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** Printable ASCII without markup, as most texts are. */
const PLAIN = /^[ !#-%(-;=?-~]*$/

/** Text for the content of an element or a quoted attribute. What XML cannot express is replaced. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text
  const escaped = /[&<>"'\r]/.test(text)
    ? text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`)
    : text
  return escaped.replace(FORBIDDEN, '\ufffd')
}
