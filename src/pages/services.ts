import type { Links } from '../access/links.ts'
import type { TicketLink, Tickets } from '../access/tickets.ts'
import { routesFor } from '../http/route.ts'
import type { Account } from '../identity/account.ts'
import type { Directory } from '../identity/directory.ts'
import type { LibraryCore } from '../library/core.ts'
import type { Library } from '../library/library.ts'
import type { Dirent } from '../objects/dirent.ts'

/** Makes archives; the transfer surface has them. */
export interface Archives {
  start(library: Library, wish: ArchiveWish): Promise<string>
  find(ticket: string): Promise<{ readonly progress: ArchiveProgress } | undefined>
}

interface ArchiveWish {
  readonly roots: readonly Dirent[]
  readonly name: string
  readonly link: TicketLink
}

export interface ArchiveProgress {
  readonly zipped: number
  readonly total: number
  readonly failure: string | undefined
  readonly canceled: boolean
}

/** What the pages work with. */
export interface PageServices {
  readonly archives: Archives
  readonly core: LibraryCore
  readonly directory: Directory
  readonly links: Links
  readonly tickets: Tickets
}

/** Declares a page. */
export const route = routesFor<Account, PageServices>()
