import type { Library } from '../../../libraries/library/index.ts'
import type { HttpRequest } from '../../../platform/http/index.ts'
import { errorMessage, type HttpResponse, jsonResponse } from '../../../platform/responses/index.ts'
import type { FoundFile } from '../common/resolve-path.ts'
import { encodeSegment } from '../common/wire-formats.ts'
import type { TransferServices } from './services.ts'

/** A download link of a file, with the file's id in a header. */
export async function downloadLink(
  { tickets }: Pick<TransferServices, 'tickets'>,
  library: Library,
  { path, entry }: FoundFile,
  { reusable, request }: { reusable: boolean; request: HttpRequest },
): Promise<HttpResponse> {
  const object = { objectId: entry.id, modifiedAt: entry.mtime }
  const ticket = await tickets.issue(library, { operation: 'download', path, ...object, reusable })
  const url = `${request.baseUrl}/seafhttp/files/${ticket}/${encodeSegment(entry.name)}`
  return jsonResponse(200, url, { oid: entry.id })
}

/** Whether a link may be used more than once. */
export function readReuse(sent = '0'): boolean {
  if (sent === '0' || sent === '1') return sent === '1'
  throw errorMessage(
    400,
    "If you want to reuse file server access token for download file, you should set 'reuse' argument as '1'.",
  )
}
