import type { OpenLink } from '../access/index.ts'
import { type HttpRequest, type HttpResponse, rawResponse, servedAs } from '../http/index.ts'
import type { FileDirent, LibraryPath } from '../objects/index.ts'
import type { PageServices } from './services.ts'

/** A file below a link, and where it is in its library. */
export interface FoundFile {
  readonly path: LibraryPath
  readonly entry: FileDirent
}

/** What a URL asks for besides the page: the bytes to keep (`dl=1`), or to be shown (`raw=1`). */
type Wanted = 'page' | 'download' | 'view'

export function wantedOf({ dl, raw: shown }: { dl: string | undefined; raw: string | undefined }): Wanted {
  if (dl === '1') return 'download'
  return shown === '1' ? 'view' : 'page'
}

/** Whether a browser can show it in place, and may. */
export function isShownInPlace(name: string): boolean {
  return servedAs(name, true).isInline
}

/** Redirects the visitor to the download. Throws permission-denied for a view-only link. */
export async function sendFile(
  { tickets }: PageServices,
  request: HttpRequest,
  open: OpenLink,
  { path, entry }: FoundFile,
  wanted: 'download' | 'view',
): Promise<HttpResponse> {
  const ticket = await tickets.issue(open.originals, {
    operation: wanted,
    path,
    objectId: entry.id,
    modifiedAt: entry.mtime,
    // Reusable, so that an interrupted download can resume; it expires with the link.
    reusable: true,
    link: open.ticketLink,
  })
  const name = encodeURIComponent(entry.name.toWellFormed())
  const location = `${request.baseUrl}/seafhttp/files/${ticket}/${name}`
  return rawResponse({ status: 302, headers: { Location: location, 'Cache-Control': 'no-store' }, body: '' })
}
