import { type BlockId, emptyFileId, type FileId, parseBlockId, sha1Hex } from './ids.ts'
import { asArray, asId, asInteger, InvalidObject, parseJson } from './json-fields.ts'

/** The content of a file: its blocks in order. */
export interface FileObject {
  readonly blockIds: readonly BlockId[]
  /** Bytes of plaintext. */
  readonly size: number
}

/** The canonical JSON of a file. Its hash is the file id. */
export function encodeFile({ blockIds, size }: FileObject): Buffer {
  const list = blockIds.length === 0 ? '' : `"${blockIds.join('", "')}"`
  return Buffer.from(`{"block_ids": [${list}], "size": ${size}, "type": 1, "version": 1}`, 'latin1')
}

export function fileId(file: FileObject): FileId {
  const empty = file.size === 0 || file.blockIds.length === 0
  return empty ? emptyFileId : (sha1Hex(encodeFile(file)) as FileId)
}

/** Parses a file in any JSON form. Throws InvalidObject. */
export function parseFile(bytes: Buffer): FileObject {
  const json = parseJson(bytes)
  if (json.type !== 1) throw new InvalidObject('type is not 1, a file')
  asInteger(json.version, 'version', 1)
  const blockIds = asArray(json.block_ids, 'block_ids').map((id) => asId(id, 'a block id', parseBlockId))
  return { blockIds, size: asInteger(json.size, 'size', 0) }
}
