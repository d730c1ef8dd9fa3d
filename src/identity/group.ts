/** People who share libraries with one another, as a whole. */
export interface Group {
  /** Its id on the wire, too. */
  readonly key: number
  readonly name: string
  readonly ownerKey: number
  /** Unix seconds. */
  readonly createdAt: number
}

/** What somebody is in a group. The owner is an administrator of it as well. */
export interface Membership {
  readonly group: Group
  readonly accountKey: number
  readonly isAdmin: boolean
  /** An administrator of the server, who need not be in the group and may do what its owner may. */
  readonly inOwnersStead?: boolean
}

const longestName = 255
// Letters come with their marks: many scripts write none without.
const nameShape = /^[\p{L}\p{M}\p{N} '._()[\]-]+$/u

/** A name for a group out of outside text; undefined for what cannot be one. */
export function parseGroupName(text: string): string | undefined {
  const name = text.normalize('NFC').trim()
  return name !== '' && name.length <= longestName && nameShape.test(name) ? name : undefined
}

/** What two names must not have in common. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
