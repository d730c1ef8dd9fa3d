import { directionOf, type Language } from '../../base/texts/index.ts'

/** The content of a mail, before it is rendered. All texts may contain names that strangers chose. */
export interface MailContent {
  readonly to: { readonly name: string; readonly address: string }
  readonly language: Language
  readonly subject: string
  readonly lines: readonly string[]
  /** Words of a person, shown as a quotation. */
  readonly quote?: string | undefined
  readonly action?: { readonly label: string; readonly url: string } | undefined
  /** After the action. */
  readonly remarks?: readonly string[]
  /** Why the recipient gets this mail. */
  readonly why: string
  /** Where the recipient chooses which mails to get. Undefined for mails that cannot be declined. */
  readonly settings?: { readonly label: string; readonly url: string } | undefined
  /** The person who caused the mail. Answers go there. */
  readonly replyTo?: { readonly name: string; readonly address: string } | undefined
}

const MAX_HEADER_LENGTH = 200
const MAX_NAME_LENGTH = 100

// Control and format characters could forge headers, reverse the reading direction or hide text. Joiners belong to scripts and emoji.
const ISOLATES = /[\u2068\u2069]/g
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200C\u200D])\p{Cf}/gu

/** A text on one line without control characters, for a header. */
export function headerText(text: string): string {
  return shortened(
    text.toWellFormed().replaceAll(ISOLATES, '').replaceAll(UNSAFE, ' ').replaceAll(/\s+/g, ' ').trim(),
    MAX_HEADER_LENGTH,
  )
}

/** Sanitizes a user-chosen name for the text of a mail. */
export function nameInMail(name: string): string {
  // Mail programs turn what looks like an address into a link. A word joiner, which is invisible, keeps names from becoming links of ours.
  return shortened(headerText(name), MAX_NAME_LENGTH).replaceAll(/(?<=[^\s.])([./:@])(?=[^\s.])/g, '$1\u2060')
}

export function plainText(content: MailContent): string {
  const { lines, quote, action, remarks = [], why, settings } = content
  const blocks = [
    ...lines,
    ...(quote === undefined
      ? []
      : [
          quote
            .split('\n')
            .map((line) => `> ${line}`)
            .join('\n'),
        ]),
    ...(action === undefined ? [] : [`${action.label}:\n${action.url}`]),
    ...remarks,
    `-- \n${why}${settings === undefined ? '' : `\n${settings.label}: ${settings.url}`}`,
  ]
  return `${blocks.join('\n\n')}\n`
}

const FONT = "font-family:Inter,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const MUTED = 'color:#6a645a'

/** A simple page without images, scripts or outside resources. Styles are inline, because mail programs drop style sheets. */
export function htmlText(content: MailContent, site: string): string {
  const { language, subject, lines, quote, action, remarks = [], why, settings } = content
  const direction = directionOf(language)
  // Mail programs do not know logical properties.
  const start = direction === 'rtl' ? 'right' : 'left'
  const paragraph = (text: string, style = '') =>
    `<p style="margin:0 0 16px;line-height:1.5;overflow-wrap:anywhere;${style}">${escaped(text)}</p>`
  const parts = [
    ...lines.map((line) => paragraph(line)),
    quote === undefined
      ? ''
      : `<blockquote style="margin:0 0 16px;padding:4px 14px;border-${start}:3px solid #d8d2c6;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere">${escaped(quote)}</blockquote>`,
    action === undefined
      ? ''
      : `<p style="margin:24px 0"><a href="${escaped(action.url)}" style="display:inline-block;padding:11px 20px;border-radius:8px;background:#1f5f4f;color:#ffffff;text-decoration:none;font-weight:600">${escaped(action.label)}</a></p>`,
    ...remarks.map((remark) => paragraph(remark, `${MUTED};font-size:14px`)),
  ]
  const foot =
    escaped(why) +
    (settings === undefined
      ? ''
      : `<br><a href="${escaped(settings.url)}" style="${MUTED}">${escaped(settings.label)}</a>`)
  return `<!doctype html>
<html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(subject)}</title></head>
<body style="margin:0;padding:24px 12px;background:#f6f3ed;color:#26231e;${FONT};font-size:16px">
<div style="max-width:560px;margin:0 auto;padding:28px 28px 14px;background:#ffffff;border:1px solid #e5dfd3;border-radius:12px">
<p style="margin:0 0 20px;font-family:Georgia,'Times New Roman',serif;font-size:22px;font-weight:600">${escaped(site)}</p>
${parts.filter(Boolean).join('\n')}
</div>
<p style="max-width:560px;margin:16px auto 0;padding:0 28px;font-size:13px;line-height:1.5;overflow-wrap:anywhere;${MUTED}">${foot}</p>
</body></html>
`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Cut between characters, not within one. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  return `${Array.from(text)
    .slice(0, most - 1)
    .join('')}…`
}
