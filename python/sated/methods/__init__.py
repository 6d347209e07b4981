"""What reviewers and standards do with a drive: plans, the steps they expand to, and the runner that can go on."""
