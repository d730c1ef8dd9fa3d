import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { StoredBytes } from '../../libraries/content/index.ts'
import type { Span } from '../../platform/representations/index.ts'
import type { ResponseHeaders } from '../../platform/responses/index.ts'

/** Longer content is not read twice for its digest. */
const MAX_DIGESTED = 64 * 2 ** 20

const algorithms = [
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
] as const
type Algorithm = (typeof algorithms)[number]

/**
 * The digests a request wants (RFC 9530): `Repr-Digest` of the whole file, `Content-Digest` of the part that is
 * sent. None if not requested, for unknown algorithms, or above `MAX_DIGESTED` bytes.
 */
export async function digestHeaders(
  headers: IncomingHttpHeaders,
  file: StoredBytes,
  span: Span | undefined,
): Promise<ResponseHeaders> {
  const found: Record<string, string> = {}
  const whole = { start: 0, end: file.size }
  const ofFile = preferredAlgorithm(headers['want-repr-digest'])
  const ofContent = preferredAlgorithm(headers['want-content-digest'])
  if (ofFile !== undefined) await add(found, 'Repr-Digest', ofFile, file, whole)
  if (ofContent !== undefined && span !== undefined) await add(found, 'Content-Digest', ofContent, file, span)
  return found
}

async function add(
  found: Record<string, string>,
  header: string,
  [name, hashName]: Algorithm,
  file: StoredBytes,
  span: Span,
): Promise<void> {
  if (span.end - span.start > MAX_DIGESTED) return
  const hash = createHash(hashName)
  if (span.start < span.end) for await (const chunk of file.read(span)) hash.update(chunk)
  found[header] = `${name}=:${hash.digest('base64')}:`
}

/** The preferred known algorithm of `sha-256=10, sha-512=3`; 0 means not acceptable. */
function preferredAlgorithm(header: string | string[] | undefined): Algorithm | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const entry of String(header).split(',')) {
    const [, name = '', weight] = /^\s*([a-z][\w.*-]*)\s*=\s*(\d{1,2})\s*$/.exec(entry) ?? []
    if (weight !== undefined) weights.set(name, Number(weight))
  }
  const [best] = algorithms
    .filter(([name]) => (weights.get(name) ?? 0) > 0)
    .sort(([a], [b]) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0))
  return best
}
