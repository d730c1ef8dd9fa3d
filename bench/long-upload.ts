import type { LongUpload } from './http-target.ts'
import { multipartHead, multipartHeaders, multipartTail } from './load/multipart.ts'

/** An upload of a large body through a link to the root, as `/file-<body>`. */
export function longUpload(path: string, body: number, bytes: number): LongUpload {
  return {
    method: 'POST',
    path,
    headers: multipartHeaders,
    before: multipartHead({ parent_dir: '/' }, `file-${body}`),
    after: multipartTail,
    body,
    bytes,
  }
}
