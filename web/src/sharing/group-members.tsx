import { EllipsisVertical, Shield, ShieldOff, UserPlus, UserX } from 'lucide-react'
import { useState } from 'react'
import type { Person } from '../api/index.ts'
import {
  addMembers,
  errorForStatus,
  type GroupItem,
  type GroupMember,
  removeMember,
  setGroupAdmin,
  useMembers,
} from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  FormDialog,
  IconButton,
  LoadError,
  Menu,
  useAction,
  useErrorMessage,
  useToast,
  Waiting,
} from '../ui/index.ts'
import type { GroupRole } from './group-view.tsx'
import { MemberList } from './member-list.tsx'
import { PeopleField } from './people-field.tsx'

/** Members of a group. */
export function GroupMembers(props: { group: GroupItem; role: GroupRole }) {
  const { group, role } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const members = useMembers(group.id)
  const [adding, setAdding] = useState(false)
  const list = members.data?.pages.flat() ?? []
  return (
    <section className="stack" aria-label={texts.members}>
      <div className="sharing-section-head">
        <h2>{texts.members}</h2>
        {role.isAdmin && (
          <Button icon={UserPlus} onClick={() => setAdding(true)}>
            {texts.addMembers}
          </Button>
        )}
      </div>
      {members.isPending && <Waiting />}
      {members.isError && <LoadError error={members.error} onRetry={() => void members.refetch()} />}
      <MemberList
        className="card sharing-list"
        members={list}
        actions={(member) => <MemberMenu group={group} member={member} role={role} />}
      />
      {members.hasNextPage && (
        <Button busy={members.isFetchingNextPage} onClick={() => void members.fetchNextPage()}>
          {common.loadMore}
        </Button>
      )}
      {adding && (
        <AddMembers group={group} without={list.map(({ email }) => email)} onClose={() => setAdding(false)} />
      )}
    </section>
  )
}

function MemberMenu(props: { group: GroupItem; member: GroupMember; role: GroupRole }) {
  const { group, member, role } = props
  const texts = useTexts('sharing')
  const act = useAction('groups')
  const isSelf = member.email === role.email
  // Admins may remove members. Only the owner may appoint admins.
  const mayRemove = !isSelf && member.role !== 'Owner' && (role.isOwner || (role.isAdmin && !member.is_admin))
  const mayChange = role.isOwner && member.role !== 'Owner'
  if (!mayRemove && !mayChange) return null
  return (
    <Menu
      trigger={<IconButton label={texts.memberMenu(member.name)} icon={EllipsisVertical} />}
      entries={[
        mayChange && {
          label: member.is_admin ? texts.takeAdmin : texts.makeAdmin,
          icon: member.is_admin ? ShieldOff : Shield,
          onSelect: () => void act(() => setGroupAdmin(group.id, member.email, !member.is_admin)),
        },
        mayRemove && {
          label: texts.takeOut,
          icon: UserX,
          danger: true,
          onSelect: () => void act(() => removeMember(group.id, member.email), texts.takenOut(member.name)),
        },
      ]}
    />
  )
}

function AddMembers(props: { group: GroupItem; without: readonly string[]; onClose: () => void }) {
  const texts = useTexts('sharing')
  const toast = useToast()
  const wording = useErrorMessage()
  const refresh = useAction('groups')
  const [people, setPeople] = useState<readonly Person[]>([])
  async function add(): Promise<void> {
    const { failed, success } = await addMembers(
      props.group.id,
      people.map(({ email }) => email),
    )
    void refresh(async () => {})
    const reasons = failed.map(({ error_msg }) => wording(errorForStatus(400, error_msg))).join(' ')
    if (success.length === 0 && failed.length > 0) throw new Error(reasons)
    if (failed.length > 0) toast({ text: reasons, bad: true })
  }
  return (
    <FormDialog
      title={texts.addMembers}
      submit={texts.addMembers}
      disabled={people.length === 0}
      onSubmit={add}
      onClose={props.onClose}
    >
      <PeopleField label={texts.people} chosen={people} onChange={setPeople} without={props.without} />
      <p className="field-hint">{texts.pasteHint}</p>
    </FormDialog>
  )
}
