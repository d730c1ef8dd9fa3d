/** A set of accounts that libraries can be shared with. */
export interface Group {
  /** Also its id on the wire. */
  readonly key: number
  readonly name: string
  readonly ownerKey: number
  /** Unix seconds. */
  readonly createdAt: number
}

/** The role of an account in a group. The owner is also an administrator of it. */
export interface Membership {
  readonly group: Group
  readonly accountKey: number
  readonly isAdmin: boolean
  /** Set for an administrator of the server, who may act as the owner without being a member. */
  readonly actsAsOwner?: boolean
}

const longestName = 255
// Includes combining marks, which many scripts need.
const nameShape = /^[\p{L}\p{M}\p{N} '._()[\]-]+$/u

/** Parses a group name; undefined if it is invalid. */
export function parseGroupName(text: string): string | undefined {
  const name = text.normalize('NFC').trim()
  return name !== '' && name.length <= longestName && nameShape.test(name) ? name : undefined
}

/** The form in which group names must be unique. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
