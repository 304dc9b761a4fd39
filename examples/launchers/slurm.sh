#!/bin/bash
# Workers as a Slurm array: sbatch slurm.sh. KTD_SERVER is taken from the environment that submits it.
#SBATCH --job-name=ktd
#SBATCH --array=1-8
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --time=24:00:00
# At the time limit and at scancel: TERM, then two minutes for the calls under way.
#SBATCH --signal=B:TERM@120
#SBATCH --requeue
# The worker in the place of the shell: at scancel Slurm signals every process of a task, and a shell that passed TERM on would
# be the second one, which ends a worker at once.
exec ktd worker --drain
