import type { AccountServices, CredentialServices, SignInServices } from './accounts/services.ts'
import type { ActivityServices } from './activity/services.ts'
import type { AdministrationServices, StatusServices } from './admin/services.ts'
import type { AnnotationServices } from './annotations/services.ts'
import type { BatchServices } from './batch/services.ts'
import type { FileServices } from './files/services.ts'
import type { FolderServices } from './folders/services.ts'
import type { GroupServices } from './groups/services.ts'
import type { HistoryServices } from './history/services.ts'
import type { LibraryServices } from './libraries/services.ts'
import type { LibraryTokenServices } from './library-tokens/services.ts'
import type { LinkServices } from './links/services.ts'
import type { PhotoServices } from './photos/services.ts'
import type { SearchServices } from './search/services.ts'
import type { ShareServices } from './shares/services.ts'
import type { StarServices } from './stars/services.ts'
import type { TransferServices } from './transfers/services.ts'
import type { TrashServices } from './trash/services.ts'

/** What all calls of the web API use. */
export type ApiServices = AccountServices &
  ActivityServices &
  AdministrationServices &
  AnnotationServices &
  BatchServices &
  CredentialServices &
  FileServices &
  FolderServices &
  GroupServices &
  HistoryServices &
  LibraryServices &
  LibraryTokenServices &
  LinkServices &
  PhotoServices &
  SearchServices &
  ShareServices &
  SignInServices &
  StarServices &
  StatusServices &
  TransferServices &
  TrashServices
