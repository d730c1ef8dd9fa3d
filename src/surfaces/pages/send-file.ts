import type { FileDirent } from '../../base/objects/index.ts'
import type { LibraryPath } from '../../base/paths/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { servedAs } from '../../platform/representations/index.ts'
import { type HttpResponse, rawResponse } from '../../platform/responses/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import type { PageServices } from './services.ts'

/** A file below a link, and where it is in its library. */
export interface FoundFile {
  readonly path: LibraryPath
  readonly entry: FileDirent
}

/** The requested representation of a file: its page, an attachment (`dl=1`), or the bytes to display (`raw=1`). */
type Representation = 'page' | 'download' | 'view'

export function representationOf({
  dl,
  raw: shown,
}: {
  dl: string | undefined
  raw: string | undefined
}): Representation {
  if (dl === '1') return 'download'
  return shown === '1' ? 'view' : 'page'
}

/** Whether the file is served inline. Types that a browser could execute are not. */
export function isShownInPlace(name: string): boolean {
  return servedAs(name, true).isInline
}

/** Redirects the visitor to the download. Throws permission-denied for a view-only link. */
export async function sendFile(
  { tickets }: PageServices,
  request: HttpRequest,
  open: OpenLink,
  { path, entry }: FoundFile,
  representation: 'download' | 'view',
): Promise<HttpResponse> {
  const ticket = await tickets.issue(open.originals, {
    operation: representation,
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
