import './sharing.css'
import type { ReactNode } from 'react'
import type { GroupMember } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Avatar } from '../ui/index.ts'

/** Members of a group, with actions. */
export function MemberList(props: {
  className?: string
  members: readonly GroupMember[]
  actions: (member: GroupMember) => ReactNode
}) {
  const texts = useTexts('sharing')
  return (
    <ul className={`sharing-rows ${props.className ?? ''}`}>
      {props.members.map((member) => (
        <li key={member.email} className="sharing-row">
          <Avatar email={member.email} name={member.name} url={member.avatar_url} size={32} />
          <span className="sharing-names">
            <bdi title={member.name}>{member.name}</bdi>
            <bdi className="muted">{member.email}</bdi>
          </span>
          {member.role !== 'Member' && (
            <span className={`badge${member.role === 'Owner' ? ' badge-accent' : ''}`}>
              {texts.roles[member.role]}
            </span>
          )}
          {props.actions(member)}
        </li>
      ))}
    </ul>
  )
}
