import type { Dirent } from './dirent.ts'
import { parseDirId, parseFileId } from './ids.ts'
import { InvalidObject } from './invalid.ts'
import { asArray, asId, asInteger, asObject, asText, parseJson } from './json-fields.ts'
import { compareNames, isStorableName } from './names.ts'

/** The entries of a dir in any JSON form. Throws InvalidObject. */
export function parseDirents(bytes: Buffer): Dirent[] {
  const dir = parseJson(bytes)
  if (dir.type !== 3) throw new InvalidObject('type is not 3, a dir')
  asInteger(dir.version, 'version', 1)
  const entries = asArray(dir.dirents, 'dirents').map(parseDirent)
  for (let i = 1; i < entries.length; i++) {
    const order = compareNames((entries[i - 1] as Dirent).name, (entries[i] as Dirent).name)
    if (order === 0) throw new InvalidObject(`two entries are called ${JSON.stringify(entries[i]?.name)}`)
    if (order < 0) throw new InvalidObject(`wrong order at ${JSON.stringify(entries[i]?.name)}`)
  }
  return entries
}

function parseDirent(value: unknown): Dirent {
  const json = asObject(value, 'a dirent')
  const name = asText(json.name, 'a name')
  if (!isStorableName(name)) throw new InvalidObject(`${JSON.stringify(name)} cannot be a name`)
  const mode = asInteger(json.mode, 'mode', 0, 0xffff_ffff)
  const mtime = asInteger(json.mtime, 'mtime', Number.MIN_SAFE_INTEGER)
  switch (mode & 0o170000) {
    case 0o040000:
      return { kind: 'dir', id: asId(json.id, 'id', parseDirId), name, mode, mtime, size: 0, modifier: '' }
    case 0o100000: {
      const id = asId(json.id, 'id', parseFileId)
      const size = asInteger(json.size, 'size', 0)
      return { kind: 'file', id, name, mode, mtime, size, modifier: asText(json.modifier, 'modifier') }
    }
    default:
      throw new InvalidObject(`mode ${mode} is neither a file nor a dir`)
  }
}
