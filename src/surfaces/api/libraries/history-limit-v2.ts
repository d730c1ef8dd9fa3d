import { json } from '../../../base/schemas/index.ts'
import { setKeepDays } from '../../../libraries/library/index.ts'
import { auditActor } from '../../../people/accounts/index.ts'
import { rawText } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import { parseInteger } from '../common/parse-values.ts'
import { libraryIdParam } from '../common/readers.ts'
import { keepDays } from './libraries.schema.ts'
import { route } from './services.ts'

const path = '/api2/repos/:repo_id/history-limit/'
const params = { repo_id: libraryIdParam }

export const librarySettingRoutes = [
  route({
    method: 'GET',
    path,
    auth: 'user',
    summary: 'Returns the number of days of history a library keeps; -1 for all.',
    compatibility: 'supported',
    callers: 'the owner',
    params,
    responses: () => ({ 200: json(keepDays, 'The limit.') }),
    async handle({ user, params }, { access }) {
      const { history } = await access.openOwned(user, params.repo_id)
      return { keep_days: history.keepDays() }
    },
  }),
  route({
    method: 'PUT',
    path,
    auth: 'user',
    summary: 'Sets the number of days of history a library keeps; a negative number keeps all.',
    compatibility: 'supported',
    callers: 'the owner',
    sample: { form: { keep_days: 5 } },
    params,
    body: { keep_days: rawText() },
    responses: () => ({ 200: json(keepDays, 'The new limit.') }),
    details: () => ({
      parameters: {
        keep_days: { required: true, description: 'Days. A negative number keeps all history.' },
      },
    }),
    async handle({ user, params, body, request }, { access, core }) {
      const library = await access.openOwned(user, params.repo_id)
      const days = parseInteger(body.keep_days)
      if (days === undefined) throw errorMessage(400, 'keep_days invalid.')
      return { keep_days: await setKeepDays(core, library, days, auditActor(user, request)) }
    },
  }),
]
