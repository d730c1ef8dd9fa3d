import { errorMessage, map, rawText, text } from '../../http/index.ts'
import { parseLibraryId } from '../../objects/index.ts'
import { actorOf } from '../common/audit.ts'
import { route } from '../services.ts'

const MAX_USER_AGENT = 255

const toolName = map(text(), (sent) => (/^[\w-]{1,64}$/.test(sent) ? sent : undefined))

export const toolCallRoutes = [
  route({
    method: 'POST',
    path: '/api/v2.1/tool-calls/',
    auth: 'user',
    // Whoever may read with a token may also say for what.
    scope: 'read',
    summary: 'Records in the audit log that a program calls a tool for the caller, before it does.',
    body: { tool: toolName, repo_id: rawText(), path: rawText() },
    async handle({ user, body, request }, { access, audit }) {
      // An entry about a library that the token does not reach would be invented.
      const library = body.repo_id ? await access.open(user, idIn(body.repo_id)) : undefined
      const client = (request.header('user-agent') ?? '').slice(0, MAX_USER_AGENT)
      await audit.append({
        ...actorOf({ user, request }),
        action: 'tool-called',
        objectKind: library === undefined ? 'account' : 'library',
        objectId: library?.info.id ?? user.email,
        path: body.path,
        detail: {
          tool: body.tool,
          client,
          ...(user.scope !== undefined && { token: user.scope.tokenKey }),
          ...(library !== undefined && { name: library.info.name }),
        },
      })
      return { success: true }
    },
  }),
]

function idIn(sent: string) {
  const id = parseLibraryId(sent)
  if (id === undefined) throw errorMessage(400, 'repo_id invalid.')
  return id
}
