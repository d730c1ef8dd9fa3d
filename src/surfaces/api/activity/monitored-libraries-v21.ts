import { fail } from '../../../base/errors.ts'
import { parseLibraryId } from '../../../base/objects/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { personOf } from '../../../people/accounts/index.ts'
import { required } from '../../../platform/input/index.ts'
import { libraryIdParam } from '../common/readers.ts'
import { done } from './activity.schema.ts'
import { route } from './services.ts'

export const monitoredLibraryRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/monitored-repos/',
    auth: 'user',
    summary: 'Monitors a library: the caller is notified of changes by others.',
    compatibility: { result: 'different', note: 'For every user.' },
    body: { repo_id: required() },
    responses: () => ({
      200: json(
        kinds.record('MonitoredLibrary', {
          user_email: kinds.account,
          user_name: kinds.displayName,
          user_contact_email: kinds.contactEmail,
          repo_id: kinds.libraryId,
        }),
        'The library is monitored.',
      ),
    }),
    async handle({ user, body }, { access, activity }) {
      const id = parseLibraryId(body.repo_id) ?? fail({ code: 'library-not-found', id: body.repo_id })
      const { info } = await access.open(user, id)
      await activity.monitored.add(user, info)
      const { email, name, contactEmail } = personOf(user)
      return { user_email: email, user_name: name, user_contact_email: contactEmail, repo_id: id }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/monitored-repos/:repo_id/',
    auth: 'user',
    summary: 'Stops monitoring a library.',
    compatibility: { result: 'different', note: 'For every user.' },
    callers: 'readers',
    params: { repo_id: libraryIdParam },
    responses: () => done('The library is not monitored.'),
    async handle({ user, params }, { access, activity }) {
      const { info } = await access.open(user, params.repo_id)
      await activity.monitored.remove(user, info)
      return { success: true }
    },
  }),
]
