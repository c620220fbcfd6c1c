"""Closed classes of Chinese words: those that by themselves say too little, and endings of nouns for roles."""

import re

from ..lexicon import words

GENERIC_VERBS = words(
    "表示 进行 认为 包括 包含 成为 作为 具有 拥有 没有 可以 能够 使得 导致 存在 出现 发生 "
    "得到 取得 采取 实现 完成 开始 继续 得益于 有助于 提到 指出 强调 希望 计划 需要 应该 属于 "
    "分为 称为 来自 关于 通过 根据 由于 为了 受到 取决于 起到 做出 作出 影响 变化 说明 显示 "
    "表明 确保 保证 用于 位于 面临 经历 产生 带来 造成 引起 涉及 相关 有关 以及 使用 利用 "
    "提供 给予 看到 知道 说道 还有 就是 不是 只有 要求 促进 提升 提高 增强 加强 改善 保障 "
    "维护 支持 推动 确定 决定 依照 按照 依据 参照 介绍 告诉 回忆 证明 证实 听说 据说 主张 "
    "承认 否认 称 说 诉称 辩称 请求 发现 超过 达到 视为 以为 觉得 相信 担心 宣布 宣称 透露 "
    "提醒 建议 应当 必须 考虑 记载 记得 想起 不如 如同 之一 可能 愿意 准备 打算 试图 负责 "
    "从事 处于 截至 截止 经过 经由 依靠 没 有 无 含 含有 在 到 去 来 让 使 想 要 能 会 "
    "可 做 作 用 给 对 向 从 至 请 待 带 自 据 起 止 报 得 上 下 出 入 见 看 问")
"""Verbs that say too little of how two things are related, or what somebody says or thinks."""

ROLE_ENDINGS = (*"员师长家官手士理裁管事席记任授相皇帝后妃王督卿守令使", "记者", "作者", "学者", "总监", "主管",
                "创始人", "负责人", "发言人", "主持人", "代表", "医生", "法人")
"""How nouns end that say what somebody is."""

KIN = (*"父母兄弟姐妹妻夫孙侄叔伯舅姑姨嫂婶婿媳", "父亲", "母亲", "女儿", "儿子", "长子", "次子", "三子", "幼子",
       "之子", "长女", "次女", "之女", "妻子", "丈夫", "孙子", "养子")
"""How nouns end that say what somebody is to somebody else."""

GENERIC_NOUNS = words(
    "金额 总额 价值 总价值 比例 数量 水平 人数 总数 时间 数字 数值 规模 价格 指标 方面 情况 结果 目标 原因 影响 其中 "
    "分别 总计 合计 总量 占比 幅度 公司 企业 集团 日期 部分 资金 成本 数据 报告 年度 项目 事件 变化 活动")
"""Nouns that name no attribute by themselves."""

_LEAD = re.compile(
    r"^(?:其中|其|该|本|公司|企业|集团|我们|截至|今年|去年|当年|全年|年度|计划|本年度?|上年度?|本期|上期|期末|期初|年末|年底|"
    r"报告期内?|当期|同期|上半年|下半年|第[一二三四]季度|前[一二三]季度|末|底|度|总体|整体|累计|预计|平均每年|最终|首次|的)+")
_LONGEST_LABEL = 10


def attribute_label(nouns: str) -> str:
    """The label of a noun phrase: 净利润 for 公司本年度净利润; "" for none."""
    label = _LEAD.sub("", nouns)
    return label if 1 < len(label) <= _LONGEST_LABEL and label not in GENERIC_NOUNS else ""
