import { kinds, type ValueOf } from '../../../base/schemas/index.ts'

export const libraryToken = kinds.record('LibraryToken', () => ({
  repo_id: kinds.libraryId,
  app_name: kinds.text('The name of the app.'),
  generated_by: kinds.account,
  permission: kinds.permission,
  api_token: kinds.text('The token. Empty if it cannot be shown any more.'),
}))

export type ShownToken = ValueOf<typeof libraryToken>

export const permission = { description: 'Whether the app may write, or only read.' }
