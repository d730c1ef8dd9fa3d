import { errorMessage, rawText } from '../../http/index.ts'
import { libraryDeed, noting } from '../common/audit.ts'
import { parseWhole } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { route } from '../services.ts'

const path = '/api2/repos/:repo_id/history-limit/'
const params = { repo_id: libraryIdParam }

export const librarySettingRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Tells how many days of history a library keeps; -1 is all of it.',
    params,
    async handle({ user, params }, { access, core }) {
      const { info } = await access.openOwned(user, params.repo_id)
      return { keep_days: core.history.keepDays(info) }
    },
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Sets how many days of history a library keeps; a negative number keeps all of it.',
    params,
    body: { keep_days: rawText() },
    async handle({ user, params, body, request }, { access, audit, core }) {
      const { info } = await access.openOwned(user, params.repo_id)
      const days = parseWhole(body.keep_days)
      if (days === undefined) throw errorMessage(400, 'keep_days invalid.')
      const deed = libraryDeed('history-limit-changed', info, { days })
      const also = noting({ audit }, { user, request }, deed)
      return { keep_days: await core.history.setKeepDays(info, days, also) }
    },
  }),
]
