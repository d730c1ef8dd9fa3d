import type { Dirent } from '../../base/objects/index.ts'
import type { ArchiveProgress } from '../../libraries/archives/index.ts'
import type { Library } from '../../libraries/library/index.ts'
import type { Account, Directory } from '../../people/accounts/index.ts'
import type { DeviceAuthorizations } from '../../people/credentials/index.ts'
import { routesFor } from '../../platform/http/index.ts'
import type { Links, OpenLink, Tickets } from '../../sharing/access/index.ts'

/** Archives, implemented by the transfer surface. */
interface Archives {
  start(library: Library, request: ArchiveRequest): Promise<string>
  find(ticket: string): Promise<{ readonly progress: ArchiveProgress } | undefined>
}

interface ArchiveRequest {
  readonly roots: readonly Dirent[]
  readonly name: string
  readonly link: OpenLink['ticketLink']
}

/** The services of the pages. */
export interface PageServices {
  /** The text of the API description. */
  readonly apiDescription: () => Promise<string>
  readonly archives: Archives
  readonly deviceAuthorizations: Pick<DeviceAuthorizations, 'userCodeOf'>
  readonly directory: Directory
  readonly links: Links
  readonly outbox: { readonly isConfigured: boolean }
  /** The fewest characters of a new password, for the page of the web app. */
  readonly passwordLength: number
  readonly tickets: Tickets
}

/** Declares a page. */
export const route = routesFor<Account, PageServices>()
