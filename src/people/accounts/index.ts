export {
  type Account,
  auditActor,
  contactEmailOf,
  displayName,
  emailAsShown,
  isAdmin,
  isContactVerified,
  loginName,
  mailAddressOf,
  mailNoticesChoices,
  type Person,
  parseEmail,
  personOf,
  unknownPerson,
} from './account.ts'
export { AccountRuleError, longestPassword } from './account-rules.ts'
export { accountRows, type Credentials } from './account-store.ts'
export { type AccountChanges, Accounts } from './accounts.ts'
export { Avatars } from './avatars.ts'
export type { AccountDependent, AccountSecrets, GroupDependent } from './dependents.ts'
export { Directory } from './directory.ts'
export type { Group, Membership } from './group.ts'
export { groupRows, type Member } from './group-store.ts'
export type { GroupEvent } from './groups.ts'
export { Groups } from './groups.ts'
export { peopleImport } from './import-people.ts'
export { Onboarding } from './onboarding.ts'
export { roleAllows } from './roles.ts'
export { type Scope, scopeAdmits, scopeReaches } from './scope.ts'
