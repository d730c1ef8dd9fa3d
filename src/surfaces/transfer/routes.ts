import type { Account } from '../../people/accounts/index.ts'
import type { Route } from '../../platform/http/index.ts'
import { rawText } from '../../platform/input/index.ts'
import { rawResponse } from '../../platform/responses/index.ts'
import { archiveDownloadRoutes } from './archive-download.ts'
import { blockUploadRoutes } from './blocks.ts'
import { blockCommitRoutes } from './blocks-commit.ts'
import { fileDownloadRoutes } from './download.ts'
import { indexProgressRoutes } from './idx-progress.ts'
import { linkDownloadRoutes } from './link-download.ts'
import { route, type TransferServices } from './services.ts'
import { updateFileRoutes } from './update.ts'
import { uploadFileRoutes } from './upload.ts'

/** CORS preflight requests of uploads. The surface adds the response headers. */
const preflightRoutes = [
  '/seafhttp/upload-api/:ticket',
  '/seafhttp/upload-aj/:ticket',
  '/seafhttp/update-api/:ticket',
  '/seafhttp/update-aj/:ticket',
  '/seafhttp/upload-raw-blks-api/:ticket',
  '/seafhttp/upload-blks-api/:ticket',
  '/seafhttp/update-blks-api/:ticket',
].map((path) =>
  route({
    method: 'OPTIONS',
    path,
    auth: 'none',
    summary: 'Answers CORS preflight requests, so that pages of any origin can upload.',
    params: { ticket: rawText() },
    body: 'raw',
    handle: () => rawResponse({ body: '' }),
  }),
)

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
