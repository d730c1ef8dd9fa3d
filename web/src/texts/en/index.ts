import { account } from './account.ts'
import { activity } from './activity.ts'
import { admin } from './admin.ts'
import { annotations } from './annotations.ts'
import { commands } from './commands.ts'
import { common } from './common.ts'
import { files } from './files.ts'
import { history } from './history.ts'
import { libraries } from './libraries.ts'
import { photos } from './photos.ts'
import { search } from './search.ts'
import { session } from './session.ts'
import { sharing } from './sharing.ts'
import { shell } from './shell.ts'
import { uploads } from './uploads.ts'
import { viewer } from './viewer.ts'

/** English, from which the other languages take their shape. */
export const texts = {
  account,
  activity,
  admin,
  annotations,
  commands,
  common,
  files,
  history,
  libraries,
  photos,
  search,
  session,
  sharing,
  shell,
  uploads,
  viewer,
}

export type Texts = typeof texts
