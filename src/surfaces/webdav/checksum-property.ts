import type { FileChecksums } from '../../libraries/attributes/index.ts'
import type { LiveProperty } from './live-properties.ts'

/** The namespace of the properties of ownCloud, which rclone asks for. */
const OWNCLOUD = 'http://owncloud.org/ns'

interface PropertyName {
  readonly namespace: string
  readonly name: string
}

/** Whether a property has the checksums of a file. They are computed, and a client may only confirm them. */
export function isChecksums({ namespace, name }: PropertyName): boolean {
  return namespace === OWNCLOUD && name === 'checksums'
}

/** A property of ownCloud that the server has. `permissions` is asked for with the checksums and has no value here, so nothing stored is read for it. */
export function owncloudProperty({ namespace, name }: PropertyName): LiveProperty | undefined {
  if (namespace !== OWNCLOUD || (name !== 'checksums' && name !== 'permissions')) return undefined
  return ({ checksums }) =>
    checksums === undefined || name === 'permissions'
      ? undefined
      : `<checksum xmlns="${OWNCLOUD}">${checksumsText(checksums)}</checksum>`
}

/** As ownCloud writes them: all in one element. */
function checksumsText({ sha1, md5 }: FileChecksums): string {
  return md5 === undefined ? `SHA1:${sha1}` : `SHA1:${sha1} MD5:${md5}`
}

/** Whether a text names checksums of the file, and no other ones. */
export function confirms(text: string, checksums: FileChecksums | undefined): boolean {
  const known = checksums === undefined ? [] : checksumsText(checksums).toLowerCase().split(' ')
  return text
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((one) => known.includes(one))
}
