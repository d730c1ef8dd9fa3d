import './account.css'
import type { ComponentType } from 'react'
import { useParams } from 'wouter'
import { sendsMail } from '../api/index.ts'
import { OfflineSection } from '../offline/index.ts'
import { useTexts } from '../texts/index.ts'
import { TabNav, useTitle } from '../ui/index.ts'
import { Appearance } from './appearance.tsx'
import { NotificationMails } from './notifications.tsx'
import { Profile } from './profile.tsx'
import { Security } from './security.tsx'
import { SignedIn } from './sessions.tsx'
import { Tokens } from './tokens.tsx'
import { Webdav } from './webdav.tsx'

const sections = {
  profile: Profile,
  security: Security,
  devices: SignedIn,
  tokens: Tokens,
  webdav: Webdav,
  offline: OfflineSection,
  notifications: NotificationMails,
  appearance: Appearance,
} satisfies Record<string, ComponentType>

type Section = keyof typeof sections

const names = (Object.keys(sections) as Section[]).filter((name) => name !== 'notifications' || sendsMail())

/** Settings of the user's account. */
export default function AccountPage() {
  const texts = useTexts('account')
  useTitle(texts.title)
  const { section } = useParams<{ section?: string }>()
  const current = names.find((name) => name === section) ?? 'profile'
  const Shown = sections[current]
  return (
    <div className="page account">
      <div className="page-head">
        <h1>{texts.title}</h1>
      </div>
      <TabNav
        label={texts.sections}
        names={names}
        current={current}
        addressOf={(name) => (name === 'profile' ? '/account' : `/account/${name}`)}
      >
        {(name) => texts[name]}
      </TabNav>
      <Shown />
    </div>
  )
}
