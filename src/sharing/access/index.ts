export { Access, type LibraryKeys } from './access.ts'
export { asAdministrator } from './administration.ts'
export { CurrentTrees } from './current-trees.ts'
export { accessRows } from './dependent-rows-store.ts'
export { type Explanation, explain } from './explain.ts'
export { LibraryNames } from './library-names.ts'
export { LibraryPasswords } from './library-passwords.ts'
export {
  type Link,
  type LinkChanges,
  type LinkKind,
  type LinkOptions,
  linkScopes,
  readingRights,
} from './link.ts'
export { linkBinding } from './link-binding-store.ts'
export { importLink, LinkSecrets } from './link-import.ts'
export { LinkMails } from './link-mails.ts'
export { grantName, type LinkGrant, resealLinkPasswords } from './link-secrets.ts'
export { Links } from './links.ts'
export { OpenLink } from './open-link.ts'
export { type OwnedReadables, type Readable, readableOf } from './readable.ts'
export type { ShareEvent } from './share-events.ts'
export { isShareExpired, type Share, shareRows } from './share-store.ts'
export type { SharedLibrary } from './shared-libraries.ts'
export { type Recipient, type ShareOptions, type SharePermission, Shares } from './shares.ts'
export { listTicketObjects } from './ticket-store.ts'
export { type TicketOptions, Tickets, type TicketUse } from './tickets.ts'
