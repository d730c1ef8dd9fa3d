import type { Route } from '../http/index.ts'
import type { Account } from '../identity/index.ts'
import { archiveDownloadRoutes } from './archive-download.ts'
import { blockUploadRoutes } from './blocks.ts'
import { blockCommitRoutes } from './blocks-commit.ts'
import { fileDownloadRoutes } from './download.ts'
import { indexProgressRoutes } from './idx-progress.ts'
import { linkDownloadRoutes } from './link-download.ts'
import type { TransferServices } from './services.ts'
import { updateFileRoutes } from './update.ts'
import { uploadFileRoutes } from './upload.ts'
import { preflightRoutes } from './upload-preflight.ts'

/** Uploads and updates; their errors are `{"error": text}`. */
export const uploadRoutes: readonly Route<Account, TransferServices>[] = [
  ...uploadFileRoutes,
  ...updateFileRoutes,
  ...blockUploadRoutes,
  ...blockCommitRoutes,
  ...indexProgressRoutes,
  ...preflightRoutes,
]

/** Downloads and archives; their errors are a line of plain text. */
export const downloadRoutes: readonly Route<Account, TransferServices>[] = [
  ...fileDownloadRoutes,
  ...linkDownloadRoutes,
  ...archiveDownloadRoutes,
]
