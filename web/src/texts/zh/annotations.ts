import type { Texts } from '../en/index.ts'

export const annotations: Texts['annotations'] = {
  tags: '标签',
  addTag: '添加标签',
  addShort: '添加',
  removeTag: (name) => `移除标签 ${name}`,
  comments: '评论',
  none: '还没有评论',
  add: '添加评论',
  placeholder: '写评论。输入 @ 可提及他人。',
  send: '评论',
  edit: '编辑',
  editing: '编辑评论',
  edited: '已编辑',
  resolve: '标记为已解决',
  reopen: '重新打开',
  resolved: '已解决',
  showResolved: (count) => `显示 ${count} 条已解决的评论`,
  hideResolved: '隐藏已解决的评论',
  people: '可提及的人',
  actions: (name) => `${name} 的评论的操作`,
}
