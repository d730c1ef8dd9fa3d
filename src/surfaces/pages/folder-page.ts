import type { Dirent } from '../../base/objects/index.ts'
import { baseName, joinPath, type LibraryPath, ROOT } from '../../base/paths/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import { alwaysHasThumbnail } from '../../derived/previews/index.ts'
import { type StoredDir, shownDir } from '../../libraries/tree/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { mediaTypeOf } from '../../platform/representations/index.ts'
import type { HttpResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { type Html, html } from './html.ts'
import { icon, iconOf } from './icons.ts'
import { crumbs, pageAnswer } from './layout.ts'
import { rootOf } from './root.ts'
import type { PageServices } from './services.ts'
import { type PageTexts, textsFor } from './texts/texts.ts'
import { sharedBy, sharerOf } from './visit.ts'
import { visitorsApp } from './visitors-app.ts'
import { dayText, encodeSegments, inQuery, isoText, sizeText } from './wording.ts'

const ENTRIES_PER_PAGE = 500
/** Where the app takes the place of the page, which browsers with scripts receive for nothing. */
const ENTRIES_BESIDE_APP = 100
const THUMBNAIL_PIXELS = 96

/** The page of a folder below a link. */
export async function folderPage(
  services: PageServices,
  request: HttpRequest,
  open: OpenLink,
  { below, dir, page }: { below: LibraryPath; dir: StoredDir['dir']; page: number },
): Promise<HttpResponse> {
  const { entries, folders } = await shownDir(dir)
  const sharer = await sharerOf(services, open)
  const app = await visitorsApp(request, open, { sharedBy: sharer })
  const perPage = app === undefined ? ENTRIES_PER_PAGE : ENTRIES_BESIDE_APP
  const shown = entries.slice((page - 1) * perPage, page * perPage)
  const pages = Math.max(1, Math.ceil(entries.length / perPage))
  const title = below === ROOT ? open.name : baseName(below)
  const files = entries.length - folders
  const root = rootOf(request)
  const texts = textsFor(request)
  const rows: Html[] = []
  const slicer = new TimeSlicer()
  for (const entry of shown) {
    // The names of a page have 128 KB, which are escaped four times.
    if (slicer.isDue) await slicer.rest()
    rows.push(entryRow(open, below, entry, { root, texts }))
  }
  return pageAnswer(request, {
    title,
    aside: sharedBy(sharer, open, texts),
    hasScript: true,
    app,
    body: html`${below !== ROOT && crumbs(open, below, '', texts)}
<article class="card">
<div class="head">
<span class="sign">${icon('folder')}</span>
<div class="what"><h1>${title}</h1>
<p class="meta">${[folders > 0 && texts.folders(folders), files > 0 && texts.files(files)].filter(Boolean).join(', ') || texts.empty}</p></div>
<div class="actions">${open.canDownload && entries.length > 0 && archiveForm(open, below, root, texts)}</div>
</div>
${open.canUpload && uploadArea(open, below, root, texts)}
${rows.length > 0 && html`<ul class="entries">${rows}</ul>`}
${entries.length === 0 && html`<p class="empty">${texts.emptyFolder}</p>`}
${pages > 1 && pager(below, page, pages, texts)}
</article>`,
  })
}

/** Works without JavaScript: the form leads to the progress page of the archive. */
function archiveForm({ link }: OpenLink, below: LibraryPath, root: string, texts: PageTexts): Html {
  return html`<form method="post" action="${root}d/${link.token}/archive/?p=${inQuery(below)}" data-archive="${link.token}" data-path="${below}" data-root="${root}">
<button class="button main" type="submit">${icon('download')} ${texts.downloadAll}</button>
<p class="status" role="status"></p>
</form>`
}

function entryRow(
  open: OpenLink,
  below: LibraryPath,
  entry: Dirent,
  { root, texts }: { root: string; texts: PageTexts },
): Html {
  const path = joinPath(below, entry.name)
  const when = html`<time class="when" datetime="${isoText(entry.mtime)}">${dayText(entry.mtime, texts)}</time>`
  if (entry.kind === 'dir') {
    return html`<li><a class="entry" href="?p=${inQuery(path)}"><span class="thumb folder">${icon('folder')}</span><span class="name">${entry.name}</span>${when}<span class="size"></span></a></li>`
  }
  const picture = alwaysHasThumbnail(entry)
    ? html`<img src="${root}thumbnail/${open.link.token}/${THUMBNAIL_PIXELS}${encodeSegments(path)}" alt="" loading="lazy" width="40" height="40">`
    : icon(iconOf(mediaTypeOf(entry.name)))
  const page = `${root}d/${open.link.token}/files/?p=${inQuery(path)}`
  return html`<li><a class="entry" href="${page}"><span class="thumb">${picture}</span><span class="name">${entry.name}</span>${when}<span class="size">${sizeText(entry.size, texts)}</span></a>
${open.canDownload && html`<a class="get" href="${page}&dl=1" aria-label="${texts.downloadOne(entry.name)}">${icon('download')}</a>`}</li>`
}

function pager(below: LibraryPath, page: number, pages: number, texts: PageTexts): Html {
  const link = (to: number, text: string, rel: string) =>
    to >= 1 &&
    to <= pages &&
    html`<a class="button" rel="${rel}" href="?p=${inQuery(below)}&page=${to}">${text}</a>`
  return html`<nav class="pager" aria-label="${texts.pages}">${link(page - 1, texts.before, 'prev')}<span>${texts.pageOf(page, pages)}</span>${link(page + 1, texts.next, 'next')}</nav>`
}

/** The drop zone and file chooser; the script uploads the files. `more` follows the list of chosen files. */
export function uploadArea(
  { link }: OpenLink,
  below: LibraryPath,
  root: string,
  texts: PageTexts,
  more?: Html,
): Html {
  return html`<section class="drop" data-upload="${link.kind}" data-token="${link.token}" data-path="${below}" data-root="${root}" aria-label="${texts.upload}">
<p class="ask"><span class="sign small">${icon('upload')}</span> <span class="wide">${texts.dropHere}</span>
<label class="button main" for="files">${texts.chooseFiles}</label>
<input class="hidden" id="files" type="file" multiple></p>
<ul class="sent" aria-label="${texts.uploads}"></ul>
${more}
<p class="status" role="status"></p>
<noscript><p class="wrong">${texts.needsScript}</p></noscript>
</section>`
}
