import { useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Crown, EllipsisVertical, LogOut, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import {
  deleteGroup,
  type GroupItem,
  handOverGroup,
  removeMember,
  renameGroup,
  useAccount,
  useGroup,
} from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { ConfirmDialog, IconButton, LoadError, Menu, useAction, Waiting } from '../ui/index.ts'
import { HandOverGroup, RenameGroup } from './group-dialogs.tsx'
import { GroupLibraries } from './group-libraries.tsx'
import { GroupMembers } from './group-members.tsx'

/** Role of the user in a group. */
export interface GroupRole {
  readonly email: string
  readonly isOwner: boolean
  readonly isAdmin: boolean
}

/** One group with its libraries and members. */
export function GroupView(props: { id: number }) {
  const texts = useTexts('sharing')
  const group = useGroup(props.id)
  const { data: account } = useAccount()
  if (group.isError) return <LoadError error={group.error} onRetry={() => void group.refetch()} />
  if (group.isPending || account === undefined) return <Waiting />
  const { email } = account
  const isOwner = group.data.owner === email
  const role: GroupRole = { email, isOwner, isAdmin: isOwner || group.data.admins.includes(email) }
  return (
    <div className="page">
      <Link to="/groups" className="sharing-crumb">
        <ArrowLeft size={16} aria-hidden />
        {texts.groups}
      </Link>
      <div className="page-head">
        <h1>
          <bdi>{group.data.name}</bdi>
        </h1>
        <GroupMenu group={group.data} role={role} />
      </div>
      <div className="sharing-columns">
        <GroupLibraries group={group.data} role={role} />
        <GroupMembers group={group.data} role={role} />
      </div>
    </div>
  )
}

function GroupMenu(props: { group: GroupItem; role: GroupRole }) {
  const { group, role } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const [asked, setAsked] = useState<'rename' | 'hand-over' | 'leave' | 'delete'>()
  const act = useAction('groups', 'libraries')
  const queries = useQueryClient()
  const [, go] = useLocation()
  const close = () => setAsked(undefined)
  /** The dialog shows errors. */
  async function change(work: () => Promise<unknown>): Promise<void> {
    await work()
    await queries.invalidateQueries({ queryKey: ['groups'] })
  }
  const end = (work: () => Promise<unknown>, done: string) =>
    act(async () => {
      await work()
      go('/groups')
    }, done)
  return (
    <>
      <Menu
        trigger={<IconButton label={texts.groupMenu} icon={EllipsisVertical} />}
        entries={[
          role.isAdmin && { label: common.rename, icon: Pencil, onSelect: () => setAsked('rename') },
          role.isOwner && { label: texts.handOver, icon: Crown, onSelect: () => setAsked('hand-over') },
          !role.isOwner && { label: texts.leaveGroup, icon: LogOut, onSelect: () => setAsked('leave') },
          role.isOwner && 'line',
          role.isOwner && {
            label: common.delete,
            icon: Trash2,
            danger: true,
            onSelect: () => setAsked('delete'),
          },
        ]}
      />
      {asked === 'rename' && (
        <RenameGroup
          name={group.name}
          onRename={(name) => change(() => renameGroup(group.id, name))}
          onClose={close}
        />
      )}
      {asked === 'hand-over' && (
        <HandOverGroup
          owner={group.owner}
          hint={texts.handOverHint}
          onHandOver={(email) => change(() => handOverGroup(group.id, email))}
          onClose={close}
        />
      )}
      {asked === 'leave' && (
        <ConfirmDialog
          title={texts.leaveGroup}
          text={texts.leaveGroupHint}
          submit={texts.leave}
          onConfirm={() => end(() => removeMember(group.id, role.email), texts.groupLeft)}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <ConfirmDialog
          title={texts.deleteGroup}
          text={texts.deleteGroupHint}
          submit={common.delete}
          onConfirm={() => end(() => deleteGroup(group.id), texts.groupDeleted)}
          onClose={close}
        />
      )}
    </>
  )
}
