/** What clients of every surface are told when the disk is full. */
export function diskFullText({ canDelete }: { readonly canDelete: boolean }): string {
  return canDelete
    ? 'The server has no disk space left. Deleting still works.'
    : 'The server has no disk space left. Ask its administrator to free some.'
}
