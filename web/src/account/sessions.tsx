import { useQueryClient } from '@tanstack/react-query'
import { LogOut, Terminal } from 'lucide-react'
import { useState } from 'react'
import { endSessionOf, type Session, useSessions } from '../api/index.ts'
import { signOut, signOutEverywhere } from '../session/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FormDialog, LoadError, useToast, Waiting } from '../ui/index.ts'
import { Devices } from './devices.tsx'
import { WebdavClients } from './webdav-clients.tsx'

/** Sessions of the account: devices, programs without a device, and sign-out everywhere. */
export function SignedIn() {
  return (
    <div className="account-parts">
      <Devices />
      <Sessions />
      <WebdavClients />
      <Everywhere />
    </div>
  )
}

/** Sessions without a device, such as those of scripts. */
function Sessions() {
  const texts = useTexts('account')
  const { data, error, refetch } = useSessions()
  const [ended, setEnded] = useState<Session>()
  if (data === undefined) {
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const sessions = data.sessions.filter(({ platform }) => platform === '')
  if (sessions.length === 0) return null
  return (
    <section className="stack">
      <h2>{texts.otherSessions}</h2>
      <p className="muted">{texts.otherSessionsHint}</p>
      <ul className="card account-list" aria-label={texts.otherSessions}>
        {sessions.map((session) => (
          <SessionItem key={session.id} session={session} onEnd={() => setEnded(session)} />
        ))}
      </ul>
      {ended && <EndDialog session={ended} onClose={() => setEnded(undefined)} />}
    </section>
  )
}

function SessionItem(props: { session: Session; onEnd: () => void }) {
  const { session } = props
  const texts = useTexts('account')
  const formats = useFormats()
  const name = session.user_agent || texts.unknownProgram
  return (
    <li className="account-item">
      <Terminal size={22} aria-hidden />
      <div className="account-item-words">
        <span className="account-item-title">
          <bdi title={name}>{name}</bdi>
          {session.is_current && <span className="badge badge-accent">{texts.thisDevice}</span>}
        </span>
        <span className="muted account-item-facts">
          <time dateTime={session.last_accessed} title={formats.moment(session.last_accessed)}>
            {texts.lastUsed}: {formats.ago(session.last_accessed)}
          </time>
          {session.last_login_ip !== '' && ` · ${session.last_login_ip}`}
        </span>
      </div>
      <Button
        icon={LogOut}
        aria-label={texts.signOutOf(name)}
        onClick={session.is_current ? () => void signOut() : props.onEnd}
      >
        {texts.signOut}
      </Button>
    </li>
  )
}

function EndDialog(props: { session: Session; onClose: () => void }) {
  const { session } = props
  const texts = useTexts('account')
  const queries = useQueryClient()
  const toast = useToast()
  const name = session.user_agent || texts.unknownProgram

  async function end(): Promise<void> {
    await endSessionOf(session)
    await queries.invalidateQueries({ queryKey: ['account', 'sessions'] })
    toast({ text: texts.signedOut(name) })
  }

  return (
    <FormDialog
      title={texts.endSessionTitle}
      submit={texts.signOut}
      danger
      onSubmit={end}
      onClose={props.onClose}
    >
      <p className="account-asked">
        <bdi>{name}</bdi>
      </p>
      <p className="muted">{texts.endSessionText}</p>
    </FormDialog>
  )
}

function Everywhere() {
  const texts = useTexts('account')
  const [asks, setAsks] = useState(false)
  return (
    <section className="stack">
      <div>
        <Button icon={LogOut} onClick={() => setAsks(true)}>
          {texts.signOutEverywhere}
        </Button>
      </div>
      {asks && (
        <FormDialog
          title={texts.everywhereTitle}
          submit={texts.signOutEverywhere}
          danger
          onSubmit={signOutEverywhere}
          onClose={() => setAsks(false)}
        >
          <p className="muted">{texts.everywhereText}</p>
        </FormDialog>
      )}
    </section>
  )
}
