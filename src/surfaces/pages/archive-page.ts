import { fail } from '../../base/errors.ts'
import { type Dirent, dirDirent } from '../../base/objects/index.ts'
import { type LibraryPath, ROOT } from '../../base/paths/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { html } from './html.ts'
import { icon } from './icons.ts'
import { pageAnswer } from './layout.ts'
import type { PageServices } from './services.ts'
import { textsFor } from './texts/texts.ts'

const AGAIN_SECONDS = 2

/** Starts an archive of a folder below a link and redirects the visitor to its progress page. */
export async function startArchive(
  { archives }: PageServices,
  request: HttpRequest,
  open: OpenLink,
  below: LibraryPath,
): Promise<HttpResponse> {
  const library = open.originals
  const root = await folderEntry(open, below)
  const ticket = await archives.start(library, {
    roots: [root],
    name: `${root.name}.zip`,
    link: open.ticketLink,
  })
  return rawResponse({
    status: 303,
    headers: {
      Location: `${request.baseUrl}/d/${open.link.token}/archive/?task=${ticket}`,
      'Cache-Control': 'no-store',
    },
    body: '',
  })
}

/** The progress page of an archive, which reloads until the download is ready. Throws ticket-not-found. */
export async function archivePage(
  { archives }: PageServices,
  request: HttpRequest,
  task: string,
): Promise<HttpResponse> {
  const { progress } = (await archives.find(task)) ?? fail({ code: 'ticket-not-found' })
  const { zipped, total, failure, canceled } = progress
  if (zipped === total && failure === undefined && !canceled) {
    const location = `${request.baseUrl}/seafhttp/zip/${encodeURIComponent(task)}`
    return rawResponse({
      status: 302,
      headers: { Location: location, 'Cache-Control': 'no-store' },
      body: '',
    })
  }
  const texts = textsFor(request)
  const isOver = failure !== undefined || canceled
  const title = isOver ? texts.noArchive : texts.packing
  return pageAnswer(request, {
    title,
    ...(!isOver && { headers: { Refresh: String(AGAIN_SECONDS) } }),
    body: html`<section class="card message">
<span class="sign">${icon('archive')}</span>
<h1>${title}</h1>
${isOver ? html`<p class="wrong">${failure === 'size too large' ? texts.tooLarge : texts.notPacked}</p>` : html`<p>${texts.packed(zipped, total)}</p><progress max="${total}" value="${zipped}" aria-label="${texts.progress}"></progress>`}
</section>`,
  })
}

/** The entry of a folder below a link. The root of a library has no entry, so one is constructed. Throws path-not-found. */
async function folderEntry(open: OpenLink, below: LibraryPath): Promise<Dirent> {
  const path = open.pathOf(below)
  const { info, tree } = open.library
  if (path === ROOT) return dirDirent({ id: tree.root, name: info.name, mtime: info.updatedAt })
  const entry = open.link.isDir ? await tree.find(path) : undefined
  return entry?.kind === 'dir' ? entry : fail({ code: 'path-not-found', path: below, wanted: 'Folder' })
}
