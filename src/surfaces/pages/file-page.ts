import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { isPicture } from '../../derived/previews/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { mediaTypeOf } from '../../platform/representations/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { type Html, html } from './html.ts'
import { icon, iconOf } from './icons.ts'
import { crumbs, pageAnswer } from './layout.ts'
import { rootOf } from './root.ts'
import { type FoundFile, isShownInPlace } from './send-file.ts'
import type { PageServices } from './services.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'
import { sharedBy, sharerOf } from './visit.ts'
import { visitorsApp } from './visitors-app.ts'
import { dayText, encodeSegments, inQuery, isoText, sizeText } from './wording.ts'

// Maximum length of a text preview.
const MAX_TEXT_BYTES = 128 * 1024

/** The page of one file; `below` is where it is in a shared folder, if it is in one. */
export async function filePage(
  services: PageServices,
  request: HttpRequest,
  open: OpenLink,
  found: FoundFile,
  below?: LibraryPath,
): Promise<HttpResponse> {
  const { entry } = found
  const query = below === undefined ? '?' : `?p=${inQuery(below)}&`
  const type = mediaTypeOf(entry.name)
  const texts = textsFor(request)
  const isShown = isShownInPlace(entry.name)
  const shown = open.canDownload
    ? await preview(open, found, { type, source: `${query}raw=1`, texts })
    : await safePreview(open, found, { type, source: pictureOf(request, open, below), texts })
  const sharer = await sharerOf(services, open)
  // Without the right to download, the app shows previews of pictures, and the server the beginning of texts.
  const hasApp = open.canDownload || isPicture(entry)
  return pageAnswer(request, {
    title: entry.name,
    aside: sharedBy(sharer, open, texts),
    app: hasApp ? await visitorsApp(request, open, { sharedBy: sharer, file: found }) : undefined,
    body: html`${below !== undefined && crumbs(open, below, `${rootOf(request)}d/${open.link.token}/`, texts)}
<article class="card">
<div class="head">
<span class="sign">${icon(iconOf(type))}</span>
<div class="what"><h1>${entry.name}</h1>
<p class="meta">${sizeText(entry.size, texts)} · ${texts.changed} <time datetime="${isoText(entry.mtime)}">${dayText(entry.mtime, texts)}</time></p></div>
<div class="actions">
${open.canDownload && isShown && html`<a class="button" href="${query}raw=1" target="_blank" rel="noopener">${icon('eye')} ${texts.view}</a>`}
${open.canDownload && html`<a class="button main" href="${query}dl=1">${icon('download')} ${texts.download}</a>`}
</div>
</div>
${shown ?? (!(open.canDownload && isShown) && html`<p class="more">${texts.noPreview}</p>`)}
</article>`,
  })
}

/** The URL of the thumbnail of an image. */
function pictureOf(
  request: HttpRequest,
  { link, largestPreview }: OpenLink,
  below: LibraryPath = ROOT,
): string {
  return `${rootOf(request)}thumbnail/${link.token}/${largestPreview}${encodeSegments(below)}`
}

interface PreviewOptions {
  readonly type: string
  /** Where the file, or a picture of it, is to be had. */
  readonly source: string
  readonly texts: PageTexts
}

/** Inline view of a file, for visitors who may download it; undefined if browsers cannot show it. */
async function preview(open: OpenLink, found: FoundFile, options: PreviewOptions): Promise<Html | undefined> {
  const { entry } = found
  const { type, source } = options
  if (entry.size === 0 || !isShownInPlace(entry.name)) return undefined
  if (type.startsWith('image/')) {
    return html`<figure class="preview"><img src="${source}" alt="${entry.name}"></figure>`
  }
  if (type.startsWith('video/')) {
    return html`<figure class="preview"><video src="${source}" controls preload="metadata"></video></figure>`
  }
  if (type.startsWith('audio/')) {
    return html`<figure class="preview"><audio src="${source}" controls preload="metadata"></audio></figure>`
  }
  return textPreview(open, found, options)
}

/** Preview for view-only visitors: a thumbnail or the beginning of a text, never the file. */
async function safePreview(
  open: OpenLink,
  found: FoundFile,
  options: PreviewOptions,
): Promise<Html | undefined> {
  const { entry } = found
  if (isPicture(entry)) {
    return html`<figure class="preview"><img src="${options.source}" alt="${entry.name}"></figure>`
  }
  return isShownInPlace(entry.name) ? textPreview(open, found, options) : undefined
}

async function textPreview(
  open: OpenLink,
  { entry }: FoundFile,
  { type, texts }: PreviewOptions,
): Promise<Html | undefined> {
  if (entry.size === 0 || (!type.startsWith('text/') && type !== 'application/json')) return undefined
  const file = await open.library.content.open(entry.id)
  const end = Math.min(file.size, MAX_TEXT_BYTES)
  const pieces: Buffer[] = []
  for await (const piece of file.read({ start: 0, end })) pieces.push(Buffer.from(piece))
  const text = Buffer.concat(pieces)
  // Not text, despite its name.
  if (text.includes(0)) return undefined
  return html`<pre class="preview text" tabindex="0" aria-label="${texts.content}">${textOf(text)}</pre>
${end < file.size && html`<p class="more">${open.canDownload ? texts.beginning : texts.beginningOnly}</p>`}`
}

/** Text that may end within a character. */
function textOf(bytes: Buffer): string {
  return new TextDecoder().decode(bytes, { stream: true })
}
