import './admin.css'
import { ShieldX } from 'lucide-react'
import type { ComponentType } from 'react'
import { Redirect, useParams } from 'wouter'
import { useAccount } from '../api/index.ts'
import { SetupSection } from '../onboarding/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, TabNav, useTitle, Waiting } from '../ui/index.ts'
import { AuditLog } from './audit-log.tsx'
import { Devices } from './devices.tsx'
import { Groups } from './groups.tsx'
import { Libraries } from './libraries.tsx'
import { Links } from './links.tsx'
import { StatisticsSection } from './statistics.tsx'
import { Status } from './status.tsx'
import { Storage } from './storage.tsx'
import { Users } from './users.tsx'

const sections = {
  status: Status,
  statistics: StatisticsSection,
  users: Users,
  storage: Storage,
  libraries: Libraries,
  groups: Groups,
  links: Links,
  devices: Devices,
  audit: AuditLog,
  setup: SetupSection,
} satisfies Record<string, ComponentType>

type SectionName = keyof typeof sections
const names = Object.keys(sections) as readonly SectionName[]

/** Administration. The server enforces the permission; this page only hides itself. */
export default function AdminPage() {
  const texts = useTexts('admin')
  useTitle(texts.title)
  const common = useTexts('common')
  const { section = 'status' } = useParams()
  const { data: account } = useAccount()
  if (account === undefined) return <Waiting />
  if (!account.is_staff) {
    return (
      <Empty icon={ShieldX} title={texts.notAllowed} hint={texts.notAllowedHint}>
        <ButtonLink to="/">{common.toLibraries}</ButtonLink>
      </Empty>
    )
  }
  const current = names.find((name) => name === section)
  if (current === undefined) return <Redirect to="/admin" replace />
  const Section = sections[current]
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.title}</h1>
      </div>
      <TabNav
        label={texts.title}
        names={names}
        current={current}
        addressOf={(name) => (name === 'status' ? '/admin' : `/admin/${name}`)}
      >
        {(name) => texts.sections[name]}
      </TabNav>
      <Section />
    </div>
  )
}
