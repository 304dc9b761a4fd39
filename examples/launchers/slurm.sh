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
ktd worker --drain &
worker=$!
trap 'kill -TERM "$worker"' TERM
wait "$worker"
# A trapped signal ends the first wait; the second one waits for the worker itself.
wait "$worker"
